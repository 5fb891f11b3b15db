"""What docs/country-teams/campaigns.md promises of countries, groups, counts, limits, times and points."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest

from abacus.core.fields import DocumentFaults
from abacus.engage.campaigns.decide.batch import decide
from abacus.engage.campaigns.decide.campaign_index import CampaignIndex, compiled
from abacus.engage.campaigns.decide.effects import actions_of
from abacus.engage.campaigns.decide.progress import WHOLE, ProgressPlace
from abacus.engage.campaigns.decide.run import Run
from abacus.engage.campaigns.decide.worth import Worth
from tests.engage.campaigns.offers import AROUND, NOW, POINTS, all_matched, campaign, matched, order

HOUR = timedelta(hours=1)
SLIDING: dict[str, Any] = {"over": "1h", "steps": [{"at": 2, "do": [POINTS]}]}


@pytest.mark.parametrize(
    ("country", "answering"),
    [("SG", ["singapore"]), ("ID", ["indonesia"]), ("VN", []), (None, ["singapore", "indonesia"])],
)
def test_an_event_of_another_country_is_not_the_campaigns(country: str | None, answering: list[str]) -> None:
    """One of no country is everybody's."""
    running = CampaignIndex()
    running.put([campaign(name="singapore"), campaign(name="indonesia", country="ID")], AROUND)
    found = running.answering(order(1)._replace(country=country))
    assert sorted(each.campaign.name for each in found) == sorted(answering)


def test_what_goes_to_another_of_the_group_is_not_counted() -> None:
    first = campaign(name="first", exclusive="group", steps=[{"at": 1, "do": [POINTS]}])
    second = campaign(name="second", exclusive="group", steps=[{"at": 2, "do": [POINTS]}])
    decided = decide([matched(first, order(1)), matched(second, order(1))], {}, {}, ())
    assert [run.matched.campaign.name for run in decided.runs] == ["first"]
    assert {place.campaign for place in decided.progress} == {"first"}


def test_what_a_limit_refuses_is_counted_and_goes_to_the_next_of_the_group() -> None:
    steps = [{"every": 1, "do": [POINTS]}]
    first = campaign(name="first", exclusive="group", steps=steps, limits={"points": {"member": 100}})
    second = campaign(name="second", exclusive="group", steps=steps)
    decided = decide([matched(first, order(1)), matched(second, order(1))], {}, {}, ())
    assert [(run.matched.campaign.name, str(run.outcome)) for run in decided.runs] == [
        ("first", "refused"),
        ("second", "done"),
    ]
    assert decided.progress[ProgressPlace("bob", "first", WHOLE)].events == 1


@pytest.mark.parametrize(("most", "outcomes"), [(1000, ["counted", "done"]), (999, ["counted", "refused"])])
def test_two_steps_at_once_are_done_both_or_not_at_all(most: int, outcomes: Sequence[str]) -> None:
    steps = [{"at": 2, "do": [POINTS]}, {"every": 2, "do": [POINTS]}]
    both = campaign(steps=steps, limits={"points": {"member": most}})
    runs = decide(all_matched(both, [order(1), order(2)]), {}, {}, ()).runs
    assert [str(run.outcome) for run in runs] == outcomes
    assert runs[-1].steps == ((1, 2) if outcomes[-1] == "done" else ())


def test_a_delay_begins_when_the_event_is_decided() -> None:
    later = campaign(steps=[{"do": [{**POINTS, "after": "2h"}, {"tell": {"en": "Hi\nThere"}, "at": "17:00"}]}])
    (run,) = decide([matched(later, order(1, after=-timedelta(days=1)))], {}, {}, ()).runs
    after, at = [due.due_at for due in actions_of(run, NOW)]
    assert after == NOW + timedelta(hours=2)
    assert at == NOW + timedelta(hours=5)  # noon there


@pytest.mark.parametrize(
    ("apart", "counts"),
    [
        (timedelta(0), [1, 2]),
        (HOUR - timedelta(microseconds=1), [1, 2]),
        (HOUR, [1, 1]),
        (HOUR + timedelta(microseconds=1), [1, 1]),
    ],
)
def test_a_sliding_window_ends_with_the_event_and_leaves_its_beginning_out(apart: timedelta, counts: list[int]) -> None:
    runs = decide(all_matched(campaign(**SLIDING), [order(1), order(2, after=apart)]), {}, {}, ()).runs
    assert [run.count for run in runs] == counts


def test_an_event_of_a_sliding_window_that_comes_late_completes_one_that_ends_after_it() -> None:
    runs = decide(all_matched(campaign(**SLIDING), [order(1), order(2, after=-HOUR / 2)]), {}, {}, ()).runs
    assert [run.count for run in runs] == [1, 2]


@pytest.mark.parametrize(
    ("amount", "award", "points"),
    [
        ("0.45", {"multiple": "2"}, 2),  # 1.80 by the card are 1 point, and twice that is 2; not 3.60
        ("0.45", {"multiple": "2.5"}, 2),  # 2.5, rounded once more
        ("0.20", {"multiple": "1000"}, 0),
        ("0.45", {"formula": {"eppf": "2"}}, 3),  # a formula is rounded once, at the end
    ],
)
def test_a_multiple_is_of_the_points_that_the_card_gives(amount: str, award: Mapping[str, Any], points: int) -> None:
    (run,) = runs_of([{"do": [{"award": dict(award)}]}], amount)
    worth: Worth = run.matched.worth[1]
    assert worth.points == points


def test_what_is_granted_goes_to_its_receiver_under_its_number() -> None:
    deeds = [{"grant": {"offer": "lunch_invited"}}, {"grant": {"reward": "coffee"}}]
    (run,) = runs_of([{"do": deeds}])
    assert [(due.kind, due.receiver, due.number, due.document) for due in actions_of(run, NOW)] == [
        ("grant", "invitations", 0, b'{"offer":"lunch_invited"}'),
        ("grant", "redemptions", 1, b'{"reward":"coffee"}'),
    ]


@pytest.mark.parametrize(
    ("says", "holdouts", "outcome"),
    [
        ({"respects_holdout": True}, {"SG": 50}, "holdout"),
        ({"respects_holdout": True}, {"ID": 50}, "done"),
        ({"respects_holdout": True}, {}, "done"),
        ({}, {"SG": 50}, "done"),
    ],
)
def test_a_campaign_that_respects_the_holdout_does_nothing_for_it(
    says: Mapping[str, Any], holdouts: Mapping[str, int], outcome: str
) -> None:
    armed, _ = compiled(campaign(**says), replace(AROUND, holdouts=holdouts))
    held_out = armed.holds_out("bob")  # who is in the first half
    (run,) = decide([replace(matched(armed.campaign, order(1)), held_out=held_out)], {}, {}, ()).runs
    assert str(run.outcome) == outcome
    assert (list(actions_of(run, NOW)) == []) is (outcome == "holdout")


def test_in_the_arm_that_gets_nothing_it_stays_one_of_the_arm() -> None:
    split = campaign(split={"control": 99, "a": 1}, respects_holdout=True)
    (run,) = decide([replace(matched(split, order(1)), held_out=True)], {}, {}, ()).runs
    assert str(run.outcome) == "control"


def test_a_message_has_the_priority_of_its_campaign() -> None:
    telling = campaign(steps=[{"do": [{"tell": {"en": "Hi\nThere"}}]}], priority=7)
    (run,) = decide([matched(telling, order(1))], {}, {}, ()).runs
    assert [orjson.loads(each.document)["priority"] for each in actions_of(run, NOW)] == [7]


def test_a_step_awards_once() -> None:
    with pytest.raises(DocumentFaults, match="two awards; a step awards once, under its key"):
        campaign(steps=[{"do": [POINTS, POINTS]}])
    (run,) = runs_of([{"do": [POINTS]}, {"do": [POINTS]}])
    assert [due.key.rpartition(":")[2] for due in actions_of(run, NOW)] == ["1", "2"]


def runs_of(steps: list[dict[str, Any]], amount: str = "15.00") -> Sequence[Run]:
    return decide([matched(campaign(steps=steps), order(1, amount=Decimal(amount)))], {}, {}, ()).runs
