"""What pages read from: the database itself, or a replica of it that is a moment behind."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.engage.series import house_sums
from abacus.intake.partners.members import MemberReader
from abacus.ledger.store.holds import HoldReader
from abacus.ledger.store.read import LedgerReader
from abacus.oversight.life.reader import LifeReader
from abacus.platform.health import Health
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.pricing.store.cards import CardReader
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.events.decide.source import Source

REPLICA: Final = "replica"
MOST_BEHIND_S: Final = 10.0
_LOOK_EVERY_S: Final = 1.0
_LOOK_WITHIN_S: Final = 2.0

# A replica that has replayed all that it received is not behind, however long ago that was.
_BEHIND_S: Final = Statement("""
select case
    when not pg_is_in_recovery() or pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
    else coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0)
end::float8
""")


@dataclass(frozen=True)
class ReadSide:
    """Rooms that are only read."""

    pool: Pool
    ledger: LedgerReader
    members: MemberReader
    holds: HoldReader
    counters: CounterDesk
    life: LifeReader


def reading_of(
    pool: Pool,
    clock: Clock,
    cards: CardReader,
    built_in: Iterable[Source] = (),
    counts: CounterStore | None = None,
) -> ReadSide:
    """`counts` is where counts are, if that is another store than this database."""
    counters, life = CounterDesk(pool, clock, built_in, counts, house_sums(pool)), LifeReader(pool, cards.book, clock)
    return ReadSide(pool, LedgerReader(pool), MemberReader(pool), HoldReader(pool), counters, life)


class Replica:
    """A replica, for as long as it answers and is not far behind; pages do without it."""

    def __init__(self, opening: Callable[[], Awaitable[ReadSide]], health: Health) -> None:
        self._opening = opening
        self._health = health
        self._opened: ReadSide | None = None
        self._answers = False

    @property
    def reading(self) -> ReadSide | None:
        """None while it is away, or too far behind."""
        return self._opened if self._answers else None

    async def look(self, most_behind_s: float = MOST_BEHIND_S) -> None:
        try:
            async with asyncio.timeout(_LOOK_WITHIN_S), passing_failures():
                self._opened = self._opened or await self._opening()
                behind_s = await self._opened.pool.fetchval(*_BEHIND_S())
        except (Unavailable, TimeoutError) as error:
            self._missed(str(error) or "no answer in time")
            return
        if behind_s > most_behind_s:
            self._missed(f"it is {behind_s:,.0f} s behind")
            return
        self._answers = True
        self._health.regained(REPLICA)

    async def keep_looking(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_EVERY_S)

    async def close(self) -> None:
        if self._opened is not None:
            self._opened.pool.terminate()

    def _missed(self, why: str) -> None:
        self._answers = False
        self._health.miss(REPLICA, why)
