"""Follows the trail of exchanges, in the order of transactions, and enters what is told of each turn: to partners, and
to members. A turn that is read twice is told once.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

import structlog

from abacus.core.clock import Clock
from abacus.engage.notify.notices import Notices
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.telling import notice, webhook_message
from abacus.exchanges.exchange_rows import of_ids
from abacus.exchanges.settler import VersionOf
from abacus.intake.partners.webhooks.outbox import enter
from abacus.platform.following.cursor import Cursor, Walk
from abacus.platform.following.leader import Leader
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import StartAgain
from abacus.platform.postgres import Connection, Pool

IDLE_S: Final = 0.2
LEASE: Final = "abacus exchanges told"
_BATCH: Final = 500
_GATHERED_FOR: Final = timedelta(seconds=5)


class _Position(NamedTuple):
    """The last turn that was told."""

    xid: str
    exchange_id: UUID
    n: int


class _Ahead(NamedTuple):
    """How far turns were read beyond the cursor, which stays where it is."""

    cursor: _Position
    reached: _Position


_START: Final = _Position("0", UUID(int=0), 0)

log = structlog.get_logger(__name__)


class Teller:
    """The messages to partners and the cursor are written in one transaction, after the notices to members.

    Slices whose servers are away are passed over. The cursor stays before their turns meanwhile, and all behind it is
    read again once they are back.
    """

    def __init__(self, pool: Pool, clock: Clock, version_of: VersionOf, notices: Notices) -> None:
        self._pool = pool
        self._version_of = version_of
        self._notices = notices
        self._clock = clock
        self._walk = Walk("exchange_turn", Turn, _START, batch=_BATCH)
        self._cursor = Cursor("exchange_cursor", "follower", "told", _START)
        self._passed_over = PassedOver(pool)
        self._ahead: _Ahead | None = None

    async def step(self, connection: Connection) -> int:
        """Returns how many turns were read. Raises `Unavailable`."""
        now = self._clock.now()
        try:
            await self._passed_over.look()
        except StartAgain as why:
            log.info("turns that stayed behind are told", why=str(why))
            self._ahead = None
        async with connection.transaction():
            position = await self._cursor.position(connection, now)
            ahead = self._ahead
            reached = ahead.reached if ahead is not None and ahead.cursor == position else position
            following = await self._walk.next(connection, reached)
            if following is None:
                return 0
            turns = [each._replace(state=State(each.state)) for each in following.rows]
            exchanges = await of_ids(connection, {each.exchange_id for each in turns})
            told = [webhook_message(exchanges[each.exchange_id], each) for each in turns]
            await self._tell_members([(exchanges[each.exchange_id], each) for each in turns])
            messages = [each for each in told if each is not None]
            await enter(self._pool, connection, messages, now, self._passed_over)
            if not self._passed_over.passes:
                await self._cursor.move(connection, position, following.reached, now)
        self._ahead = _Ahead(position, following.reached) if self._passed_over.passes else None
        return len(turns)

    async def _tell_members(self, turns: Sequence[tuple[Exchange, Turn]]) -> None:
        made = []
        for exchange, turn in turns:
            if exchange.programme:
                programme = await self._version_of(exchange.programme, exchange.version)
                made.append(notice(exchange, turn, programme.unit))
        entering = partial(self._notices.enter_in, gathered_for=_GATHERED_FOR)
        await self._passed_over.split([each for each in made if each is not None], entering)


def teller(
    pool: Pool,
    clock: Clock,
    health: WorkerHealth,
    version_of: VersionOf,
    notices: Notices,
    *,
    leading: Pool,
    idle_s: float = IDLE_S,
) -> Leader:
    """One of several processes works, the others stand by. What a step looks up beside its transaction it looks up in
    `pool`, never in that of leaders: each of them keeps its connection.
    """
    return Leader(leading, LEASE, Teller(pool, clock, version_of, notices).step, health, idle_s=idle_s)
