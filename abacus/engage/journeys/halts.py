"""What halts journeys, read from their versions."""

from typing import Final

from abacus.engage.journeys.decide.halts import Halts
from abacus.engage.journeys.decide.journey import AtEnd
from abacus.engage.journeys.kind import JOURNEYS
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

_RESUMED: Final = Statement("select name, max(resumed_at) from journey where resumed_at is not null group by name")

# Who ends a journey ends all versions that were approved by then. A version that another one replaced ended at the
# moment at which that was approved, and members go on with it.
_ENDED: Final = Statement("""
with ended as (
    select j.name, max(j.version) as version from journey j
    where j.status = 'ended' and j.approved_at is not null and not exists (
        select from journey n where n.name = j.name and n.version > j.version and n.approved_at = j.changed_at
    )
    group by j.name
)
select j.name, j.version from journey j join ended e on e.name = j.name and j.version <= e.version
where j.approved_at is not null order by j.name, j.version
""")
_STOPS: Final = Statement(f"""
select name, version, ends_at from journey
where approved_at is not null and document ->> 'at_end' = '{AtEnd.STOP}' order by name, version
""")


async def read_halts(pool: Pool) -> Halts:
    """Raises `Unavailable`."""
    async with passing_failures():
        resumed, ended, stops = [await pool.fetch(*each()) for each in (_RESUMED, _ENDED, _STOPS)]
    return Halts(
        {row[0]: row[1] for row in resumed},
        frozenset((row[0], row[1]) for row in ended),
        {(row[0], row[1]): row[2] for row in stops},
    )


class HaltDirectory(FreshCopy[Halts, Halts]):
    """Serves what halts journeys. It raises `Unavailable` while that was never read."""

    def __init__(self, pool: Pool) -> None:
        super().__init__("ends of journeys", lambda _: read_halts(pool), lambda halts: halts)
        self.tables = [JOURNEYS.table.name]
