"""What is read of the visits of members is what is asked about, however often they were inside."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from abacus.core.clock import CLOCKS_DIFFER_BY
from abacus.engage.journeys.decide.seat import Entry, Seat
from abacus.engage.journeys.decide.version_events import VersionEvents, events_of, first_entries
from abacus.engage.journeys.seat_rows import Visit, enter, unconverted
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool
from tests.engage.journeys.examples import ORDERS, journey
from tests.engage.journeys.travelling import DAY, JOURNEY, NOW, event

_TIMES: Final = 400  # inside, a day each time
_OPEN: Final = frozenset({7, 11})
_READ: Final = """
select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::integer from pg_stat_xact_user_tables where relname = 'seat'
"""


async def _often_inside(connection: Connection) -> None:
    """A member, and two of its visits go on."""
    rows = [_seat(visit) for visit in range(1, _TIMES + 1)]
    await connection.copy_records_to_table("seat", records=rows, columns=Seat._fields)
    await connection.execute(
        "update seat set left_at = entered_at, why = 'end' where visit <> all($1::integer[])", [*_OPEN]
    )


def _seat(visit: int) -> Seat:
    at = NOW + visit * DAY
    return Seat("m1", JOURNEY, visit, 1, 1, f"e-{visit}", "SG", at, None, None, None, at, None, None, None)


async def _asked(connection: Connection, key: str, at_most: int) -> tuple[list[int], int]:
    """The visits that are looked at for an entry, and how many rows are read for that."""
    seen: list[int] = []

    def may_enter(_: Entry, visits: Sequence[Visit]) -> bool:
        seen.extend(each.visit for each in visits)
        return False

    before = await connection.fetchval(_READ)
    assert not await enter(connection, [Entry("m1", 1, JOURNEY, 1, key, "SG", at_most=at_most)], may_enter, NOW)
    return seen, await connection.fetchval(_READ) - before


async def test_an_entry_looks_at_the_last_visit_and_at_visits_that_go_on(pool: Pool) -> None:
    async with slices.at(pool, "m1") as connection, connection.transaction():
        await _often_inside(connection)
        assert (await _asked(connection, "e-new", 1_000))[0] == [*sorted(_OPEN), _TIMES]
        assert (await _asked(connection, "e-5", 1_000))[0] == [], "what was done is not asked about again"


async def test_who_was_inside_as_often_as_it_may_costs_no_more_than_who_was_there_once(pool: Pool) -> None:
    async with slices.at(pool, "m1") as connection, connection.transaction():
        await _often_inside(connection)
        seen, read = await _asked(connection, "e-new", _TIMES)
        assert (seen, read <= 2) == ([_TIMES], True)


def _of_orders(within: str, version: int = 1) -> VersionEvents:
    return events_of(journey(version, goal={"on": ORDERS, "within": within}))


def test_visits_of_which_an_event_may_be_the_goal_began_within_its_time() -> None:
    happened = event("m1")._replace(source="transactions", type="transaction.completed", occurred_at=NOW)
    versions = [_of_orders("2d"), _of_orders("7d", 2)]
    margin = 2 * CLOCKS_DIFFER_BY
    later, other = happened._replace(occurred_at=NOW + DAY), event("m2")
    assert first_entries([later, happened, other], versions) == {("m1", JOURNEY): NOW - 7 * DAY - margin}
    assert first_entries([happened], [_of_orders("2d")]) == {("m1", JOURNEY): NOW - 2 * DAY - margin}


async def test_a_goal_looks_at_visits_within_its_time(pool: Pool) -> None:
    async with slices.at(pool, "m1") as connection, connection.transaction():
        await _often_inside(connection)
        before = await connection.fetchval(_READ)
        since = NOW + (_TIMES - 3) * DAY + timedelta(seconds=1)
        found = await unconverted(connection, {("m1", JOURNEY): since, ("m2", JOURNEY): since})
        assert [each.visit for each in found] == [_TIMES - 2, _TIMES - 1, _TIMES]
        assert await connection.fetchval(_READ) - before <= 9
