"""Of an exclusive group the first that can do anything gets an event; the next one, where a limit is against that."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from abacus.core.errors import Reason, SetAside
from abacus.engage.campaigns.decide.batch import decide
from abacus.engage.campaigns.decide.progress import WHOLE, ProgressPlace
from abacus.engage.campaigns.decide.run import Matched
from abacus.engage.limits.decide.pots import pot_of
from abacus.engage.limits.types import NOTHING
from tests.engage.campaigns.offers import campaign, matched, order

NEVER = {"limits": {"runs": {"overall": 1}}}  # nothing is left of it, below
OTHERS: Mapping[str, Mapping[str, Any]] = {
    "does": {},
    "counts": {"steps": [{"at": 9, "do": [{"award": {"points": 5}}]}]},
    "refused": NEVER,
    "refused and counts": {**NEVER, "steps": [{"every": 1, "do": [{"award": {"points": 5}}]}]},
    "control": {"split": {"control": 99, "a": 1}},  # bob is in it
    "held out": {},
    "faulty": {},
    "waits": {},
}
OF_A = pot_of(campaign(name="a").owner)
FAULT = SetAside(Reason.INVALID, "no amount")


def one(name: str, state: str, group: str | None = "group") -> Matched:
    offer = campaign(name=name, exclusive=group, **OTHERS[state])
    matched_ = matched(offer, order(1))
    match state:
        case "faulty":
            return Matched(offer, "bob", order(1), fault=FAULT)
        case "waits":
            return Matched(offer, "bob", order(1), waits=True)
        case "held out":
            return replace(matched_, held_out=True)
        case _:
            return matched_


@pytest.mark.parametrize(
    ("states", "runs", "waiting", "faulty"),
    [
        (["does", "does"], "a", "", ""),
        (["counts", "does"], "a", "", ""),
        (["control", "does"], "a", "", ""),
        (["held out", "does"], "a", "", ""),
        (["refused", "does", "does"], "ab", "", ""),
        (["refused", "refused and counts", "does"], "abc", "", ""),
        (["refused", "refused"], "ab", "", ""),
        (["refused", "faulty", "does"], "a", "", "b"),
        (["faulty", "does"], "", "", "a"),
        (["does", "waits"], "a", "", ""),
        (["does", "faulty"], "a", "", ""),
        (["waits", "does"], "", "ab", ""),
        # Whether the one that waits gets the event is not known, so nothing is decided for those before it.
        (["refused", "waits", "does"], "", "abc", ""),
        (["refused and counts", "waits"], "", "ab", ""),
        (["faulty", "waits"], "", "", "a"),
    ],
)
def test_who_of_a_group_gets_an_event(states: list[str], runs: str, waiting: str, faulty: str) -> None:
    group = [one(name, state) for name, state in zip("abc", states, strict=False)]
    whole = [pot_of(each.campaign.owner) for each in group]
    decided = decide(group, {}, dict.fromkeys(whole, NOTHING), whole)
    assert "".join(run.matched.campaign.name for run in decided.runs) == runs
    assert "".join(each.campaign.name for each in decided.waiting) == waiting
    assert "".join(each.campaign.name for each in decided.faulty) == faulty
    if waiting:
        assert decided.progress == {}


def test_others_of_the_event_are_not_in_the_group() -> None:
    batch = [one("a", "does"), one("b", "does", None), one("c", "does", "another"), one("d", "does", None)]
    assert [run.matched.campaign.name for run in decide(batch, {}, {}, ()).runs] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("claimed", ["a", "b"])
def test_a_group_is_decided_once_for_an_event(claimed: str) -> None:
    """Also where the one that got it cannot be told any more: its limit is reached by now, or its conditions fail."""
    batch = [one("a", "refused"), one("b", "does")]
    key = next(each.key for each in batch if each.campaign.name == claimed)
    assert decide(batch, {}, {}, [OF_A], [key]).runs == []


def test_what_is_taken_back_leaves_what_was_before() -> None:
    """Another event of the member was counted in the same batch."""
    first, waits = one("a", "refused and counts"), one("b", "waits")
    counted = Matched(first.campaign, "bob", order(2), worth=first.worth)
    decided = decide([counted, first, waits], {}, {OF_A: NOTHING}, [OF_A])
    assert {place: progress.events for place, progress in decided.progress.items()} == {
        ProgressPlace("bob", "a", WHOLE): 1
    }
    assert [run.matched.event.id for run in decided.runs] == ["mart:T-2"]


RUNS = {"operator": "lt", "lhs": "campaign.runs", "rhs": 1}
FOOD = {"operator": "eq", "lhs": "var.vertical", "rhs": "campaign.runs"}


@pytest.mark.parametrize(
    ("changes", "remembers"),
    [
        ({}, False),
        ({"when": FOOD}, False),
        ({"when": RUNS}, True),
        ({"when": {"operator": "and", "conditions": [FOOD, {"operator": "not", "conditions": [RUNS]}]}}, True),
        ({"steps": [{"do": [{"award": {"points": 5}, "after": "1h", "unless": RUNS}]}]}, True),
        ({"steps": [{"do": [{"award": {"points": 5}, "after": "1h", "if_still": FOOD}]}]}, False),
    ],
)
def test_what_a_member_has_had_is_kept_where_a_rule_asks_for_it(changes: dict[str, Any], *, remembers: bool) -> None:
    assert campaign(**changes).remembers is remembers
