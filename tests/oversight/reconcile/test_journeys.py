"""Visits to journeys come out: each goes on or has ended, and each member inside waits in one pack. So does what was
decided for members and is not done yet.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from abacus.engage.journeys.aside_rows import set_deeds_aside
from abacus.engage.journeys.deed_rows import DeedRow
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.journeys.late_rows import Late, keep_late
from abacus.oversight.reconcile.decide.lines import Actions, added
from abacus.oversight.reconcile.journeys import compared_visits, deeds_not_made
from abacus.platform import slices
from abacus.platform.postgres import Pool, snapshot
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import AROUND, ORDERS, journey, nodes, rule
from tests.engage.journeys.test_walks import seat
from tests.engage.journeys.trip import Trip
from tests.oversight.reconcile.reconciling import as_owner
from tests.support.agreed import agree
from tests.support.slices import tables_of

DAY: Final = timedelta(days=1)
BOUGHT: Final = rule("var.vertical", "eq", "mart")
FIELDS: Final[Mapping[str, Any]] = {
    "goal": {"on": ORDERS, "within": "7d", "when": BOUGHT},
    "exits": [{"name": "bought", "on": ORDERS, "when": BOUGHT}],
    **nodes(
        "pause",
        pause={"wait": {"for": "1d"}, "next": "second"},
        second={"wait": {"for": "2d", "event": {"on": ORDERS}}, "next": "done", "otherwise": "pause"},
    ),
}


async def travelled(pool: Pool) -> None:
    """Some wait for a time, some for an event, one left by the goal, one was fetched out of its wait."""
    trip = Trip(pool, journey(**FIELDS))
    await trip.enter(*range(1, 9))
    await trip.happen(order(90, "m1", after=timedelta(hours=1), vertical="mart"))
    await trip.pass_to(NOW + DAY + timedelta(seconds=1))
    await trip.happen(order(91, "m2", after=2 * DAY), order(92, "m3", after=2 * DAY, vertical="mart"))
    await trip.enter(9)


async def compared(pool: Pool) -> list[tuple[int, int]]:
    async with snapshot(pool) as connection:
        return [(each.counted, each.other) for each in await compared_visits(connection)]


async def test_visits_come_out(pool: Pool) -> None:
    assert await compared(pool) == []
    await travelled(pool)
    assert await compared(pool) == [(9, 9), (3, 3), (6, 6), (2, 2)]


async def decide(pool: Pool, node: int, *members: int, at: datetime = NOW) -> None:
    """Something at a node for members in their first visits, each in its slice."""
    for each in members:
        async with slices.at(pool, f"m{each}") as connection, connection.transaction():
            deed = DeedRow("welcome", at, each, 1, node, 0, None, [each], [1])
            await connection.copy_records_to_table("journey_deed", records=[deed], columns=DeedRow._fields)


async def test_what_is_decided_and_not_done_yet_is_told_by_its_kind(pool: Pool) -> None:
    of = journey()
    await agree(pool, JOURNEYS, JourneyStore(pool), of, AROUND)
    numbers = dict(map(tuple, await pool.fetch("select node, number from journey_node")))
    await decide(pool, numbers["hello"], 1, 2)
    await decide(pool, numbers["remind"], 3)
    await decide(pool, numbers["thank"], 4)
    await decide(pool, numbers["thank"], 5, at=NOW + DAY)
    async with slices.at(pool, "m6") as connection:
        deed = DeedRow("welcome", NOW, 6, 1, numbers["thank"], 0, None, [6], [1])
        await set_deeds_aside(connection, [(deed, seat(6), "a bug")], NOW)
    async with snapshot(pool) as connection:
        found = await deeds_not_made(connection, NOW, NOW + DAY)
    sent = Actions("welcome", "tell", decided=4, delivered=3, waiting=0, refused=1)
    assert added([sent, *found]) == [
        Actions("welcome", "award", decided=2, delivered=0, waiting=1, refused=0, set_aside=1),
        Actions("welcome", "tell", decided=7, delivered=3, waiting=3, refused=1),
    ]


async def test_what_is_decided_belongs_to_a_visit(pool: Pool) -> None:
    await travelled(pool)
    await decide(pool, 3, 1, 2, 77)
    assert (await compared(pool))[0] == (3, 2)


async def test_an_entry_that_is_not_decided_is_beside_the_visits(pool: Pool, database_url: str) -> None:
    async def wait(*keys: str) -> None:
        async with slices.at(pool, "m1") as connection:
            entry = Late("m1", "welcome", "", 1, NOW, None, None, 1, None, "cannot be told", NOW)
            await keep_late(connection, [entry._replace(key=key) for key in keys])

    await wait("a")
    assert await compared(pool) == [(1, 1)]
    await travelled(pool)
    done = await pool.fetchval("select key from seat where member_id = 'm1'")
    await wait("b", done)  # which is not late, because it was done
    assert (await compared(pool))[0] == (2, 2)
    tables = tables_of("journey_entry_aside").split(", ")
    await as_owner(database_url, *(f"update {each} set key = '{done}' where key = 'b'" for each in tables))
    assert (await compared(pool))[0] == (2, 1)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("delete from {pack} where not awaits", [(9, 9), (3, 3), (6, 5), (2, 2)]),
        ("update seat set left_at = now() where member_id = 'm5'", [(9, 9), (3, 4), (6, 5), (2, 2)]),
        ("delete from seat where member_id = 'm1'", [(9, 8), (3, 2), (6, 6), (2, 1)]),
    ],
)
async def test_what_does_not_come_out_is_seen(
    pool: Pool, database_url: str, statement: str, found: list[tuple[int, int]]
) -> None:
    await travelled(pool)
    await as_owner(database_url, *(statement.format(pack=each) for each in tables_of("pack").split(", ")))
    assert await compared(pool) == found
