"""What a journey would do for many members: each counted once for each way."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from abacus.engage.journeys.decide.sides import ZONE
from abacus.engage.journeys.dry_run import DryRun, Taken, dry_run
from abacus.engage.journeys.facts import JourneySubject
from abacus.signals.facts.types import FactRegistry, Found, Wish
from tests.engage.campaigns.offers import order
from tests.engage.journeys.examples import AROUND, HELLO, journey, nodes, rule

pytestmark = pytest.mark.once


class NoZones:
    """Members who have named no zone."""

    origin = ZONE

    async def load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        return [None] * len(wanted)


NOTHING = FactRegistry[JourneySubject](NoZones())
BY_AMOUNT = nodes(
    "which",
    which={
        "branch": [
            {"when": rule("var.amount", "gte", "100"), "next": "thank"},
            {"when": rule("var.amount", "gte", "20"), "next": "greet"},
        ],
        "otherwise": "done",
    },
    thank={"do": {"award": {"points": 50}}, "next": "done"},
    greet={"do": HELLO, "next": "done"},
)


async def ran(amounts: list[int], **changes: Any) -> DryRun:
    entries = [order(number, f"m{number}", amount=Decimal(amount)) for number, amount in enumerate(amounts)]
    return await dry_run(journey(**changes), entries, {}, facts=NOTHING, around=AROUND)


async def test_members_are_counted_by_the_ways_they_would_take() -> None:
    found = await ran([5, 20, 30, 100, 7], **BY_AMOUNT)
    assert (found.entered, found.against, found.unknown, found.left) == (5, {}, 0, {"through": 5})
    assert {way: count for way, count in found.ways.items() if way.node == "which"} == {
        Taken("which", "1", "thank"): 1,
        Taken("which", "2", "greet"): 2,
        Taken("which", "otherwise", "done"): 2,
    }
    assert found.ways[Taken("greet", "", "done")] == 2


async def test_who_would_not_enter_is_told_by_the_reason() -> None:
    entry = {"on": ["transactions/transaction.completed"], "when": rule("var.amount", "gte", "20")}
    found = await ran([5, 20, 7], entry=entry, **BY_AMOUNT)
    assert (found.entered, found.against) == (1, {"the rule of the entry does not hold": 2})
    early = await ran([5, 20], starts_at="2026-03-30T00:00:00+08:00", **BY_AMOUNT)
    ((reason, count),) = early.against.items()
    assert (early.entered, count) == (0, 2)
    assert "takes nobody in at" in reason


async def test_a_way_of_a_loop_counts_a_member_once() -> None:
    again = nodes(
        "pause",
        pause={"wait": {"for": "1d"}, "next": "more"},
        more={"split": [{"arm": "on", "share": 50, "next": "pause"}, {"arm": "off", "share": 50, "next": "done"}]},
    )
    found = await ran([1] * 40, **again)
    assert found.ways[Taken("pause", "", "more")] == 40
    assert sum(found.ways[Taken("more", arm, to)] for arm, to in (("on", "pause"), ("off", "done"))) == 40


async def test_more_members_than_are_looked_up_together_are_all_counted() -> None:
    found = await ran([20] * 1_100, **BY_AMOUNT)
    assert found.ways[Taken("which", "2", "greet")] == 1_100
