"""Members of a ledger in eight slices, and what is posted to them."""

from typing import Final

from abacus.ledger.types.award_envelope import Award
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import SliceMap
from tests.support.awards import NOW, award
from tests.support.fixed_clock import FixedClock

EIGHT: Final = SliceMap(8)
CLOCK: Final = FixedClock(NOW)
# A member of each slice.
MEMBERS: Final = [next(each for each in map("m{}".format, range(999)) if EIGHT.slice_of(each) == n) for n in range(8)]
FIRST, SECOND = MEMBERS[:2]


def gift(member: str, key: str, points: int = 10) -> Award:
    return award(key=key, member_id=member, points=points, fingerprint=f"{member:>016}")


async def keys_in(connection: Connection | Pool, number: int) -> list[str]:
    return [row[0] for row in await connection.fetch(f"select key from slice_{number}.claim order by key")]


async def take_away(owner: Connection, number: int, *tables: str) -> None:
    """The server of a slice, as far as these tables go."""
    for table in tables:
        await owner.execute(f"drop view if exists public.{table}")  # it would stand in for the table
        await owner.execute(f"alter table slice_{number}.{table} rename to away_{table}")
    await owner.execute(f"alter table slice_{number}.head rename to away_head")


async def bring_back(owner: Connection, number: int, *tables: str) -> None:
    for table in (*tables, "head"):
        await owner.execute(f"alter table slice_{number}.away_{table} rename to {table}")
