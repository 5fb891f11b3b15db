"""An event that moves a member and cannot be decided holds this member, and nobody else."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.journeys.aside_rows import What, aside, put_back
from abacus.engage.journeys.pack_rows import BEGIN, Line
from abacus.engage.journeys.whereabouts import whereabouts
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.events.types import Event
from abacus.signals.facts.types import NOT_NOW
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import AROUND, HELLO, ORDERS, journey, nodes, rule
from tests.engage.journeys.stage import HOUR, Stage
from tests.engage.journeys.test_walks import BROKEN, Tiers

SECOND: Final = timedelta(seconds=1)
DAY: Final = timedelta(days=1)
BOUGHT: Final = {"on": ORDERS, "when": rule("member.tier", "eq", "gold")}
WAITS: Final = nodes(
    "second",
    second={"wait": {"for": "2d", "event": BOUGHT}, "next": "third", "otherwise": "remind"},
    third={"wait": {"for": "9d", "event": {"on": ORDERS}}, "next": "done", "otherwise": "done"},
    remind={"do": HELLO, "next": "done"},
)
LEAVES: Final[Mapping[str, Any]] = {
    "exits": [{"name": "bought", **BOUGHT}],
    **nodes("day", day={"wait": {"for": "1d"}, "next": "tell"}, tell={"do": HELLO, "next": "done"}),
}


async def staged(pool: Pool, **document: Any) -> Stage:
    """Bob and ann are inside; of bob cannot be told whether an order counts."""
    stage = Stage(pool, journey(**document), tiers=Tiers({"ann": "gold"}))
    await stage.happen(order(1), order(2, "ann"))
    stage.tiers.tiers = {"ann": "gold", "bob": NOT_NOW}
    return stage


async def hear(stage: Stage, *events: Event) -> None:
    """Until the topic goes on."""
    for seconds in (0, 2):
        with suppress(Unavailable):
            await stage.happen(*events, at=NOW + HOUR + seconds * SECOND)


async def pass_time(stage: Stage, after: timedelta) -> None:
    """What is due then is run."""
    stage.clock.set(NOW + after)
    for slice_ in await slices.slices_of(stage.pool):
        for awaits in (False, True):
            while (await stage.mover.run(slice_, Line("welcome", awaits), BEGIN, NOW + after, 9)).packs:
                pass


async def late(pool: Pool) -> Sequence[tuple[Any, ...]]:
    rows = await pool.fetch("select key, tries, due_at is null from journey_entry_aside where moves order by at, key")
    return [tuple(row) for row in rows]


async def nodes_of(pool: Pool) -> Mapping[str, str | int]:
    """Why members left, or the node at which they wait for an event."""
    return {row[0]: row[1] or row[2] for row in await pool.fetch("select member_id, why, node from seat")}


async def test_the_topic_goes_on_and_the_member_is_moved_in_the_order_of_its_events(pool: Pool) -> None:
    stage = await staged(pool, **WAITS)
    first, second = order(3, after=HOUR), order(4, after=HOUR + 10 * SECOND)
    with pytest.raises(Unavailable):
        await stage.happen(first, order(5, "ann", after=HOUR), at=NOW + HOUR)
    await stage.happen(first, order(5, "ann", after=HOUR), at=NOW + HOUR + 2 * SECOND)
    before = await nodes_of(pool)
    assert before["ann"] != before["bob"]
    stage.tiers.tiers = {}  # it can be told from now on, and the second waits behind the first all the same
    await stage.happen(second, at=NOW + HOUR + 3 * SECOND)
    assert [key for key, *_ in await late(pool)] == [first.key, second.key]
    stage.tiers.tiers = {"bob": "gold"}
    assert [await stage.look_again(HOUR + 8 * SECOND) for _ in range(3)] == [1, 1, 0]
    assert (await late(pool), await nodes_of(pool)) == ([], {"ann": before["ann"], "bob": "through"})


async def test_nobody_is_timed_out_by_what_cannot_be_decided(pool: Pool) -> None:
    stage = await staged(pool, **WAITS)
    await hear(stage, order(3, after=HOUR))
    told = "select member_id from action"
    await pass_time(stage, 3 * DAY)
    assert [row[0] for row in await pool.fetch(told)] == ["ann"]
    stage.tiers.tiers = {"bob": "gold"}
    assert await stage.look_again(3 * DAY) == 1
    await pass_time(stage, 4 * DAY)
    assert [row[0] for row in await pool.fetch(told)] == ["ann"]


async def test_who_may_have_left_is_told_nothing_and_comes_in_again_behind_that(pool: Pool) -> None:
    """Members of the same pack go on."""
    again = {"re_entry": {"again": "after_leaving", "at_most": 2}}
    stage = await staged(pool, **LEAVES, **again)
    stage.tiers.tiers = {"bob": NOT_NOW}
    await hear(stage, order(3, after=HOUR))
    assert await pool.fetchval("select count(*) from journey_entry_aside where not moves") == 1
    await pass_time(stage, 2 * DAY)
    assert await pool.fetchval("select sum(cardinality(members)) from journey_deed") == 1
    assert await stage.visits() == [("ann", 1, 1, "through"), ("bob", 1, 1, None)]
    stage.tiers.tiers = {"bob": "gold"}
    await stage.look_again(2 * DAY)
    await stage.look_again(3 * DAY)
    assert [each for each in await stage.visits() if each[0] == "bob"] == [("bob", 1, 1, "bought"), ("bob", 2, 1, None)]


@pytest.mark.parametrize("fault", [NOT_NOW, BROKEN])
async def test_what_was_tried_in_vain_waits_for_people_with_all_behind_it(pool: Pool, fault: Any) -> None:
    """Also where the fault names nobody."""
    stage = await staged(pool, **WAITS)
    stage.tiers.tiers = {"bob": fault, "ann": "gold"}
    await hear(stage, order(3, after=HOUR), order(5, "ann", after=HOUR))
    await stage.happen(order(4, after=2 * HOUR), at=NOW + 2 * HOUR)
    hours = 2
    while await aside(pool) == []:
        hours += 1
        await stage.look_again(hours * HOUR)
        assert hours < 30
    await stage.happen(order(6, after=3 * HOUR), at=NOW + hours * HOUR)
    assert [each[1:] for each in await late(pool)] == [(15, True), (1, True), (1, True)]
    assert {each.what for each in await aside(pool, "welcome")} == {What.EVENT}
    assert await stage.look_again(99 * HOUR) == 0
    stage.tiers.tiers = {"bob": "gold"}
    assert await put_back(pool, "welcome", NOW + 99 * HOUR) == 3
    assert [await stage.look_again(99 * HOUR) for _ in range(4)] == [1, 1, 1, 0]
    assert len(set((await nodes_of(pool)).values())) == 1, "both have come to the next wait"


async def test_an_event_waits_for_a_version_that_fits_nothing_any_more(pool: Pool) -> None:
    """A segment is gone at which the version looks later."""
    regulars = {"branch": [{"when": rule("segment.regulars", "eq", rhs=True), "next": "done"}], "otherwise": "done"}
    second = {"wait": {"for": "2d", "event": {"on": ORDERS}}, "next": "which", "otherwise": "done"}
    stage = await staged(pool, exits=LEAVES["exits"], **nodes("second", second=second, which=regulars))
    stage.around = replace(AROUND, beside=replace(AROUND.beside, segments=frozenset()))
    await hear(stage, order(3, "ann", after=HOUR))
    assert [each[1:] for each in await late(pool)] == [(1, False)]
    stage.around = AROUND
    assert await stage.moves.round(asyncio.Event()) == 0, "it is not due yet"
    await stage.look_again(2 * HOUR)
    assert (await late(pool), (await nodes_of(pool))["ann"]) == ([], "bought")


async def test_where_says_what_a_member_waits_for(pool: Pool) -> None:
    stage = await staged(pool, **WAITS)
    await hear(stage, order(3, after=HOUR))
    found = await whereabouts(pool, stage.armed, [journey(**WAITS)], "bob", NOW + HOUR)
    assert [(each.key, each.moves) for each in found.undecided] == [(order(3).key, True)]
