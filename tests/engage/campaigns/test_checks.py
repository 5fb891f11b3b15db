"""Points of campaigns are decided again from what their explanation kept, and every change of it is noticed."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from abacus.engage.campaigns.decide.batch import decide
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_index import compiled
from abacus.engage.campaigns.decide.checks import Given, checks_of
from abacus.engage.campaigns.decide.conditions import conditions_of
from abacus.engage.campaigns.decide.effects import actions_of
from abacus.engage.campaigns.decide.run import Matched
from abacus.ledger.types.award_envelope import decode_envelope
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Campaigned
from abacus.signals.events.types import Event
from abacus.signals.rules.decide.plan import LookedUp
from tests.engage.campaigns.offers import AROUND, CARDS, NOW, campaign, matched, order

pytestmark = pytest.mark.once

FOOD = {"operator": "eq", "lhs": "var.vertical", "rhs": "food"}
POOR = {"operator": "lt", "lhs": "member.balance", "rhs": 100}
RICH = {"operator": "gte", "lhs": "var.amount", "rhs": "100"}
REGULAR = {"operator": "eq", "lhs": "segment.regulars", "rhs": True}
WHEN = {
    "operator": "and",
    "conditions": [FOOD, POOR, {"operator": "or", "conditions": [RICH, REGULAR]}],
}
LOOKED_UP: LookedUp = {"member.balance": 7, "segment.regulars": True}
FIXED = campaign(when=WHEN)
SPLIT = campaign(
    steps=[{"at": 1, "variant": arm, "do": [{"award": {"points": 500}}]} for arm in ("a", "b")],
    split={"a": 50, "b": 50},
)
DOUBLE = campaign(steps=[{"do": [{"award": {"multiple": "2"}}]}])
OWN = campaign(steps=[{"do": [{"award": {"formula": {"vertical": "10"}}}]}])


def given(of: Campaign, event: Event, looked_up: LookedUp = LOOKED_UP) -> Given:
    """The points that the campaign gives for the event, as they come to stand in the ledger."""
    plan = compiled(of, AROUND)[0].plan
    looked = plan.decide(event, looked_up).looked if plan is not None else ()
    of_event: Matched = replace(matched(of, event), conditions=conditions_of(looked))
    (run,) = decide([of_event], {}, {}, ()).runs
    (due,) = actions_of(run, NOW)
    (award,) = decode_envelope(b'{"v":1,"awards":[%b]}' % due.document).awards
    transfer = Transfer(
        award.member_id,
        award.program,
        1,
        award.kind,
        award.points,
        award.points,
        award.key,
        award.country,
        award.occurred_at,
        NOW,
        award.expires_on,
        award.explanation,
        None,
        None,
        award.source,
        award.lifetime,
        award.vests_on,
        award.vests_at,
        3,
        b"",
    )
    why = read(award.explanation)
    assert isinstance(why, Campaigned)
    return Given(transfer, why, of, "person:eve", CARDS["SG"], AROUND)


def faults(of: Given) -> Mapping[str, str]:
    return {str(check.about): check.words for check in checks_of(of) if check.agrees is False}


def tampered(of: Given, **changes: Any) -> Given:
    return replace(of, why=replace(of.why, **changes))


@pytest.mark.parametrize(
    "offer", [FIXED, SPLIT, DOUBLE, OWN, campaign(steps=[{"every": 1, "do": [{"award": {"points": 9}}]}])]
)
def test_what_was_given_is_agreed_to(offer: Campaign) -> None:
    event = order(1)
    for known in (given(offer, event), replace(given(offer, event), event=event)):
        checks = list(checks_of(known))
        assert [check for check in checks if check.agrees is not True] == []
        assert len(checks) == 6 + bool(offer.split) + (known.event is not None)


@pytest.mark.parametrize(
    ("changes", "about", "words"),
    [
        ({"points": 5000}, "points", "the step awards 500 points, not 5000"),
        ({"step": 2}, "step", "market@1 has 1 steps, and no step 2"),
        ({"step": 2}, "key", "is not the key of step 2 of market for"),
        ({"event": "transactions:transaction.completed:mart:T-2"}, "key", "is not the key of step 1 of market for"),
        ({"event": "points:abacus.points.earned.v1:T-1"}, "key", "is no event that it answers to"),
        ({"count": 3}, "step", "market@1 does not count, and the count is 3"),
        ({"variant": "a"}, "arm", "bob is in the arm None, not a"),
        ({"conditions": ()}, "conditions", "it takes more than was kept, such as var.vertical eq food"),
        (
            {"conditions": (("var.vertical eq rides", "rides"),)},
            "conditions",
            "var.vertical eq rides is no condition of it",
        ),
        ({"formula": given(DOUBLE, order(1)).why.formula}, "points", "and by no formula"),
    ],
)
def test_a_changed_explanation_is_noticed(changes: Mapping[str, Any], about: str, words: str) -> None:
    assert words in faults(tampered(given(FIXED, order(1)), **changes))[about]


@pytest.mark.parametrize(
    ("condition", "value", "words"),
    [
        ("var.vertical eq food", "rides", "its conditions do not hold with these values"),
        ("member.balance lt 100", "100", "its conditions do not hold with these values"),
        ("member.balance lt 100", "missing", "its conditions do not hold with these values"),
        ("segment.regulars eq true", "false", "its conditions do not hold with these values"),
        ("member.balance lt 100", "few", "member.balance lt 100: invalid literal for int"),
        ("segment.regulars eq true", "yes", "segment.regulars eq true: 'yes' is no boolean"),
        ("var.amount gte 100", "much", "var.amount gte 100: 'much' is no decimal"),
    ],
)
def test_a_value_that_does_not_hold_is_noticed(condition: str, value: str, words: str) -> None:
    known = given(FIXED, order(1))
    assert condition in dict(known.why.conditions)
    conditions = tuple((text, value if text == condition else kept) for text, kept in known.why.conditions)
    assert words in faults(tampered(known, conditions=conditions))["conditions"]


@pytest.mark.parametrize(
    ("known", "about", "words"),
    [
        (replace(given(FIXED, order(1)), campaign=None), "campaign", "there is no market@1"),
        (replace(given(FIXED, order(1)), approved_by=None), "campaign", "market@1 was never approved"),
        (replace(given(FIXED, order(1)), campaign=campaign(2, country="MY")), "campaign", "market@2 is of MY"),
        (
            replace(given(FIXED, order(1)), campaign=replace(FIXED, approved_at=NOW + timedelta(hours=1))),
            "time",
            "market@1 did not run at 2026-03-02T04:00:00+00:00",
        ),
        (replace(given(FIXED, order(1)), campaign=campaign(2)), "conditions", "is no condition of it"),
        (
            replace(given(SPLIT, order(1)), campaign=replace(SPLIT, split=(("b", 50), ("a", 50)))),
            "arm",
            "bob is in the arm",
        ),
        (replace(given(DOUBLE, order(1)), campaign=OWN), "points", "the multiple is 1, not 2; its own multipliers are"),
        (replace(given(OWN, order(1)), campaign=FIXED), "points", "the step awards 500 points, not 300"),
        (replace(given(FIXED, order(1)), campaign=DOUBLE), "points", "awards by a formula, and none was kept"),
        (tampered(given(OWN, order(1)), points=301), "points", "the formula comes to 300 points, not 301"),
    ],
)
def test_another_version_is_noticed(known: Given, about: str, words: str) -> None:
    assert words in faults(known)[about]


@pytest.mark.parametrize(
    ("offer", "event", "about", "words"),
    [
        (FIXED, order(2), "event", "the key of the event is transactions:transaction.completed:mart:T-2, not"),
        (FIXED, order(1, "ann"), "event", "its member is ann, not bob"),
        (FIXED, order(1, after=timedelta(hours=1)), "event", "its time is 2026-03-02 05:00:00+00:00, not"),
        (FIXED, order(1)._replace(country="MY"), "event", "its country is MY, not SG"),
        (FIXED, order(1, vertical="rides"), "conditions", "it was food, and the event has rides"),
        (DOUBLE, order(1, amount=Decimal(16)), "event", "its points by SG@1 are 128, not 120"),
        (OWN, order(1, payment_type="cash"), "event", "its points by SG@1 are 150, not 300"),
        (DOUBLE, order(1, vertical="flying"), "event", "vertical 'flying' is not on the card of SG"),
    ],
)
def test_another_event_is_noticed(offer: Campaign, event: Event, about: str, words: str) -> None:
    assert words in faults(replace(given(offer, order(1)), event=event))[about]


@pytest.mark.parametrize(
    ("known", "about"),
    [
        (replace(given(SPLIT, order(1)), erased=True), "arm"),
        (replace(given(FIXED, order(1)), around=replace(AROUND, segments=frozenset())), "conditions"),
        (
            given(campaign(when={"operator": "ne", "lhs": "var.vertical", "rhs": "x"}), order(1, vertical="y" * 200)),
            "conditions",
        ),
    ],
)
def test_what_cannot_be_told_any_more_is_said(known: Given, about: str) -> None:
    """The member's id is gone, a segment is not known any more, a value was too long to be kept."""
    checks = list(checks_of(known))
    assert [str(check.about) for check in checks if check.agrees is None] == [about]
    assert faults(known) == {}


@pytest.mark.parametrize(
    ("condition", "changes", "expected"),
    [
        ({"operator": "ne", "lhs": "var.vertical", "rhs": "food"}, {"vertical": "missing"}, None),
        ({"operator": "not", "conditions": [FOOD]}, {"vertical": "missing"}, True),
        ({"operator": "between", "lhs": "var.amount", "rhs": ["1", "15"]}, {}, True),
        ({"operator": "in", "lhs": "var.vertical", "rhs": ["food", "mart"]}, {}, True),
        ({"operator": "lt", "lhs": "event.occurred_at", "rhs": "2027-01-01T00:00:00Z"}, {}, True),
        ({"operator": "exists", "lhs": "var.currency"}, {}, True),
    ],
)
def test_values_of_every_type_are_read_again(condition: Any, changes: Mapping[str, Any], expected: Any) -> None:
    """A text that says "missing" may as well be none."""
    checks = {
        str(check.about): check.agrees for check in checks_of(given(campaign(when=condition), order(1, **changes)))
    }
    assert checks["conditions"] is expected
