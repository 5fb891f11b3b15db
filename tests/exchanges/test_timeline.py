"""After a restore nothing is sent, until a person says that the books are matched."""

from datetime import UTC, datetime, timedelta

import pytest

from abacus.core.errors import Refused
from abacus.exchanges.timeline import Timelines
from abacus.platform.postgres import Pool
from tests.support.fixed_clock import FixedClock

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


async def test_another_timeline_stops_until_it_is_matched(pool: Pool) -> None:
    clock = FixedClock(NOW)
    at = Timelines(pool, clock)
    assert (await at.look()).restored_to is None
    clock.set(NOW + timedelta(hours=1))
    await pool.execute("update exchange_timeline set timeline = 'FFFFFFFF'")
    for _ in range(2):
        assert (await at.look()).restored_to == NOW
    await at.matched("person:ann")
    assert (await at.look()).restored_to is None
    with pytest.raises(Refused, match="still to come"):
        await at.restored(NOW + timedelta(days=1), "person:ann")
    for moment in (NOW, NOW - timedelta(hours=1), NOW):
        await at.restored(moment, "person:ann")
    assert (await at.look()).restored_to == NOW - timedelta(hours=1)
