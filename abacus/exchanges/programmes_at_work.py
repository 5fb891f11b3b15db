"""Programmes that something is done for: in force, or paused or over with exchanges and entries of late."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from abacus.core.clock import Clock
from abacus.exchanges.decide.exchange import UNSETTLED, State
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import Programmes
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

LATELY: Final = timedelta(days=70)  # two months are billed, and days of statements are read, behind the last entry
_LOOK_EVERY: Final = timedelta(seconds=30)
_OPEN: Final = [*UNSETTLED, State.RESERVED]
_WORKING: Final = Statement("""
select s.programme from exchange_standing s
where exists (
    select from exchange e where e.programme = s.programme and e.ended_at is null and e.state = any(:states::text[])
) or exists (select from exchange_position p where p.programme = s.programme and p.at >= :since)
""")


class ProgrammesAtWork:
    """One for each process. Raises `Unavailable` while the database is away."""

    def __init__(
        self, pool: Pool, in_force: Callable[[], Programmes], versions: ProgrammeVersions, clock: Clock
    ) -> None:
        self._pool = pool
        self._in_force = in_force
        self._versions = versions
        self._clock = clock
        self._looked_at: datetime | None = None
        self._others: Sequence[Programme] = ()

    async def __call__(self) -> Sequence[Programme]:
        """A programme that is not in force is here by the version that was in force last."""
        in_force = {name: each.programme for name, each in self._in_force().by_name.items()}
        now = self._clock.now()
        if self._looked_at is None or now - self._looked_at >= _LOOK_EVERY:
            async with passing_failures():
                rows = await self._pool.fetch(*_WORKING(states=[*_OPEN], since=now - LATELY))
            found = [await self._versions.last(row["programme"]) for row in rows if row["programme"] not in in_force]
            self._others = [each for each in found if each is not None]
            self._looked_at = now
        return [*in_force.values(), *(each for each in self._others if each.name not in in_force)]
