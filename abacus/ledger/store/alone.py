"""What is moved without a second person, by actor and by member and day: read under a lock, written with the movements.

The rows lie at one place also in a ledger in slices, as the log's entries of these movements do. The locks are taken
before all others of a round, and wait a while only: a slice that falls silent during an actor's movement holds up that
actor's next movements no longer.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.ledger.decide.alone import MovedAlone, whose_sums
from abacus.ledger.types.limits import Total
from abacus.ledger.types.movement import Movement
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested

_WAIT: Final = "select set_config('lock_timeout', $1, true)"
_WAITING: Final = "5s"

_LOCK: Final = Statement("""
select pg_advisory_xact_lock(lock) from (
    select distinct hashtextextended('moved alone: ' || whose, 0) as lock from unnest(:whose::text[]) as u (whose)
    order by lock
) as locks
""")
_FORGET: Final = Statement("delete from moved_alone where whose = any(:whose::text[]) and day < :until")
_TOTALS: Final = Statement(f"select {columns(Total)} from moved_alone where whose = any(:whose::text[])")
_ADD: Final = Statement(f"""
insert into moved_alone as m ({columns(Total)}) select whose, day, points from {unnested(Total)}
on conflict (whose, day) do update set points = m.points + excluded.points
""")


async def lock_moved_alone(connection: Connection, movements: Sequence[Movement], now: datetime) -> MovedAlone:
    """The sums to which the movements may add, locked until the transaction ends."""
    whose = whose_sums(movements)
    if not whose:
        return MovedAlone((), now)
    before = await connection.fetchval("show lock_timeout")
    await connection.execute(_WAIT, _WAITING)
    await connection.execute(*_LOCK(whose=whose))
    await connection.execute(_WAIT, before)
    return MovedAlone([Total(*row) for row in await connection.fetch(*_TOTALS(whose=whose))], now)


async def write_moved_alone(connection: Connection, moved: MovedAlone) -> None:
    """After the accounts are locked, as an erasure does."""
    if moved.added:
        await connection.execute(*_ADD(**arrays(Total, moved.added)))
        await connection.execute(*_FORGET(whose=[each.whose for each in moved.added], until=moved.first_day))
