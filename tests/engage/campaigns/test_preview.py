"""The messages of a campaign, filled with the values of an event that happened."""

from abacus.engage.campaigns.decide.preview import filled
from abacus.engage.notify.decide.template import rendered
from tests.engage.campaigns.offers import CARDS, campaign, order

TELL = {"en": "Thanks\n{{count}}, {{points}}, {{event.amount}}, {{event.member_id}}", "id": "Terima kasih\n{{points}}"}


def test_each_language_of_each_message_is_filled_at_its_place() -> None:
    steps = [
        {"at": 2, "do": [{"tell": {"en": "Soon\n{{event.vertical}}"}}]},
        {"at": 3, "do": [{"award": {"points": 500}}, {"tell": TELL}]},
    ]
    found = list(filled(campaign(steps=steps), order(1), CARDS["SG"]))
    assert [(each.path, each.step, each.deed) for each in found] == [
        ("steps[0].do[0].tell.en", 1, 1),
        ("steps[1].do[1].tell.en", 2, 2),
        ("steps[1].do[1].tell.id", 2, 2),
    ]
    assert [rendered(each.rendering).text for each in found] == ["food", "3, 500, 15.00, the-member", "500"]


def test_points_that_follow_from_the_event_are_those_of_the_countrys_card() -> None:
    steps = [{"do": [{"award": {"multiple": "2"}}, {"tell": {"en": "Twice\n{{points}}"}}]}]
    (priced,) = filled(campaign(steps=steps), order(1), CARDS["SG"])
    (without,) = filled(campaign(steps=steps), order(1), None)
    assert int(rendered(priced.rendering).text) > 1
    assert rendered(without.rendering).text == "1"
