"""A house whose workers were given a clock tells no other time."""

from datetime import UTC, datetime, timedelta

from tests.support.fixed_clock import FixedClock
from tests.support.house import House, completed, until

_AT = datetime(2026, 5, 2, 9, 30, tzinfo=UTC)


async def test_rows_have_the_time_of_the_given_clock(house: House) -> None:
    to_come = completed(3, occurred_at=(_AT + timedelta(hours=1)).isoformat())
    async with house.running(clock=FixedClock(_AT)):
        await house.produce([completed(1), completed(2, vertical="yachts"), to_come])
        await until(lambda: _settled(house))
    assert await house.pool.fetchval("select posted_at from transfer") == _AT
    held = await house.pool.fetch("select reason, set_aside_at from quarantine order by reason")
    assert [tuple(row) for row in held] == [("in-the-future", _AT), ("unknown-vertical", _AT)]


async def _settled(house: House) -> bool:
    return await house.transfers() == 1 and sum((await house.reasons()).values()) == 2
