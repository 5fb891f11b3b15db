"""Events let members in and move them, in their order, each once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.directory import Running
from abacus.engage.journeys.happenings import Happenings
from abacus.engage.journeys.mover import Mover
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.types import Event
from abacus.signals.facts.types import NOT_NOW, FactRegistry
from tests.engage.campaigns.offers import CARDS, NOW, order
from tests.engage.journeys.examples import AROUND, ORDERS, journey, rule
from tests.engage.journeys.test_walks import Tiers, Versions, walks
from tests.support.fixed_clock import FixedClock

HOUR = timedelta(hours=1)
GOLD = rule("member.tier", "eq", "gold")


class Stage:
    """Journeys on which events happen."""

    def __init__(self, pool: Pool, *versions: Journey, tiers: Tiers | None = None, holdout: int = 0) -> None:
        self.pool = pool
        self.clock = FixedClock(NOW)
        self.tiers = tiers or Tiers({})
        beside = replace(AROUND.beside, holdouts={"SG": holdout})
        running = Running(versions, versions[-1:], replace(AROUND, beside=beside))
        cards = CardBook(CARDS.values())
        self._happenings = Happenings(
            lambda: running,
            ArmedVersions(Versions(*versions).of, lambda: AROUND),
            Mover(walks(*versions, tiers=self.tiers), self.clock),
            FactRegistry(self.tiers),
            cards=lambda: cards,
            pool=pool,
            clock=self.clock,
        )

    async def happen(self, *events: Event, at: datetime = NOW) -> None:
        self.clock.set(at)
        await self._happenings.happen(events)

    async def visits(self) -> Sequence[tuple[Any, ...]]:
        rows = await self.pool.fetch("select member_id, visit, version, why from seat order by 1, 2")
        return [tuple(row) for row in rows]


async def test_an_event_lets_a_member_in_once_and_the_next_one_ends_the_wait(pool: Pool) -> None:
    """Both are read together, and then again."""
    stage = Stage(pool, journey())
    events = order(1), order(2, after=HOUR), order(3, "ann")
    await stage.happen(*events)
    assert await stage.visits() == [("ann", 1, 1, None), ("bob", 1, 1, "through")]
    await stage.happen(*events, at=NOW + HOUR)
    assert await stage.visits() == [("ann", 1, 1, None), ("bob", 1, 1, "through")]
    keys = await pool.fetch("select key from action where member_id = 'bob'")
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("fields", "visits"),
    [
        ({}, 1),
        ({"re_entry": {"again": "after_leaving", "at_most": 2}}, 2),
        ({"re_entry": {"again": "after", "span": "1d", "at_most": 5}}, 1),
    ],
)
async def test_members_enter_again_as_the_document_says(pool: Pool, fields: Mapping[str, Any], visits: int) -> None:
    stage = Stage(pool, journey(**fields))
    for number in range(6):  # enters, leaves, enters, …
        await stage.happen(order(number, after=number * HOUR), at=NOW + number * HOUR)
    assert len(await stage.visits()) == visits


async def test_the_rule_of_the_entry_decides_by_what_is_looked_up(pool: Pool) -> None:
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": "gold"}))
    await stage.happen(order(1), order(2, "ann"))
    assert await stage.visits() == [("bob", 1, 1, None)]
    assert stage.tiers.loads == [2]


async def test_events_are_tried_again_where_a_value_cannot_be_told(pool: Pool) -> None:
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": NOT_NOW}))
    with pytest.raises(Unavailable):
        await stage.happen(order(1))
    stage.tiers.tiers = {"bob": "gold"}
    await stage.happen(order(1))
    assert await stage.visits() == [("bob", 1, 1, None)]


async def test_members_stay_on_their_version_and_others_enter_the_newest(pool: Pool) -> None:
    one, other = journey(1), journey(2, at_end="stop")
    await Stage(pool, one).happen(order(1))
    await Stage(pool, one, other).happen(order(2, "ann"))
    assert await Stage(pool, one, other).visits() == [("ann", 1, 2, None), ("bob", 1, 1, None)]


async def test_nobody_enters_who_is_held_out_or_has_an_id_that_no_member_may_have(pool: Pool) -> None:
    await Stage(pool, journey(), holdout=100).happen(order(1))
    stage = Stage(pool, journey())
    await stage.happen(order(2, "=bob"), Event("transactions", "transaction.completed", "x", None, "SG", NOW, {}))
    assert await stage.visits() == []


async def test_a_journey_that_starts_another_takes_nobody_in_yet(pool: Pool) -> None:
    start = {"do": {"start": {"journey": "farewell", "context": {"reason": "x", "points": 5}}}, "next": "done"}
    nodes = {"start": start, "done": {"exit": "through"}}
    stage = Stage(pool, journey(begin="start", nodes=nodes))
    await stage.happen(order(1))
    assert await stage.visits() == []
