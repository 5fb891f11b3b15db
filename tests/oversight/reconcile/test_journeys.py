"""Visits to journeys come out: each goes on or has ended, and each member inside waits in one pack."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import pytest

from abacus.oversight.reconcile.journeys import compared_visits
from abacus.platform.postgres import Pool, snapshot
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import ORDERS, journey, nodes, rule
from tests.engage.journeys.trip import Trip
from tests.oversight.reconcile.reconciling import as_owner
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
