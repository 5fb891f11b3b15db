"""Carries exchanges on: what is due is asked of its partner, and what partners say is done with the points.

Each partner has a lane of its own, so a silent partner holds up nobody else. An exchange is marked as sent before it
is sent, and taken with a lease; so whatever a process leaves behind is gone on with under the same id.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.heard import Heard
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.turn import Act, Reason, act, called_off, later, trail, unlinked, woken
from abacus.exchanges.exchange_rows import (
    OURS,
    Step,
    all_programmes,
    due,
    due_of_ours,
    due_programmes,
    forget_quotes,
    write,
)
from abacus.exchanges.hearing import Hearing, Said
from abacus.exchanges.metrics import IN_METRICS, Counting
from abacus.exchanges.settler import BY, VersionOf
from abacus.exchanges.types import Account, Transfer, TransferPort
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped
from abacus.platform.postgres import DEPENDENCY, Connection, Pool, passing_failures

LEASE: Final = timedelta(seconds=60)
MOST: Final = 250  # exchanges of a round
AT_ONCE: Final = 2  # rounds of a lane: while one waits for the database, another asks
SIDE_BY_SIDE: Final = 32  # questions of a round to a partner
IDLE_S: Final = 0.1
GRACE_S: Final = 20.0
_NOT_NOW: Final = timedelta(seconds=30)  # for what is not sent while its programme is paused
_PURGE_EVERY: Final = timedelta(minutes=1)
_QUOTES_KEPT: Final = timedelta(hours=1)
_ASKS: Final = frozenset({Act.PUT, Act.GET, Act.CANCEL, Act.REVERSE})
_INCOMING: Final = frozenset({State.RESERVED, State.COMMITTED})
_SETTLES: Final = frozenset({Act.CAPTURE, Act.RELEASE, Act.GIVE_BACK})

log = structlog.get_logger(__name__)


class Reached(NamedTuple):
    """A partner, and the number of exchanges that it may be asked of now: while it does not answer, of one from time to
    time. `side_by_side` questions are put at once.
    """

    port: TransferPort
    room: Callable[[], int]
    side_by_side: int = SIDE_BY_SIDE


class Lines(Protocol):
    """How partners are reached, and whether anything may be sent."""

    async def reach(self, programme: str) -> Reached | None:
        """None for a partner that is reached by files, or not at all. Raises `Unavailable`."""
        ...

    def may_begin(self, exchange: Exchange, now: datetime) -> bool:
        """Whether an exchange that was not sent yet is sent: its programme is in force, and not paused."""
        ...

    async def is_over(self, programme: str, now: datetime) -> bool:
        """Whether they never will be: it is not paused, it has ended. Raises `Unavailable`."""
        ...

    async def is_stopped(self) -> bool:
        """Whether nothing is sent, because the house was restored and its books are not matched yet."""
        ...


class Reviews(Protocol):
    """Second persons, who review what is large. Raises `Unavailable`."""

    async def looked_at(self, some: Sequence[Exchange], now: datetime) -> list[Step]: ...


class Incoming(Protocol):
    """Awards what partners have committed, and drops what they have left. Raises `Unavailable`."""

    async def carry(self, some: Sequence[Exchange]) -> None: ...


# The accounts of links that are known still, by their ids. Raises `Unavailable`.
AccountsOf = Callable[[Sequence[UUID]], Awaitable[Mapping[UUID, Account]]]


class Exchanger:
    """One for each process; any number of them share the work."""

    def __init__(
        self,
        pool: Pool,
        hearing: Hearing,
        lines: Lines,
        clock: Clock,
        *,
        accounts_of: AccountsOf,
        version_of: VersionOf,
        reviews: Reviews,
        incoming: Incoming,
        health: WorkerHealth,
        counting: Counting = IN_METRICS,
    ) -> None:
        self._pool = pool
        self._hearing = hearing
        self._lines = lines
        self._accounts_of = accounts_of
        self._version_of = version_of
        self._clock = clock
        self._reviews = reviews
        self._incoming = incoming
        self._health = health
        self._counting = counting
        self._under_way: dict[str, set[asyncio.Task[None]]] = {}
        self._purge_at: datetime | None = None
        self._seen: dict[str, frozenset[int]] = {}  # the versions of a programme's exchanges that were due

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; what is under way then is brought to its end."""
        while not stop.is_set():
            try:
                self._begin(await self._due())
                await self._purge()
                self._health.ready()
            except Unavailable as error:
                self._health.waiting(error)
                log.warning("exchanges are not gone on with", away=error)
            await unless_stopped(asyncio.sleep(IDLE_S), stop)
        under_way = [task for tasks in self._under_way.values() for task in tasks]
        if under_way:
            await asyncio.wait(under_way, timeout=GRACE_S)
        for task in under_way:
            task.cancel()

    async def go_round(self) -> int:
        """Everything that is due now, once; returns how many exchanges that were. Raises `Unavailable`."""
        taken = 0
        for name in await self._due():
            taken += await self.carry(name)
        await self._purge()
        return taken

    async def carry(self, programme: str) -> int:
        """A round of a programme; returns how many exchanges it took. Raises `Unavailable`."""
        now = self._clock.now()
        is_stopped = await self._lines.is_stopped()
        reached = None if is_stopped else await self._lines.reach(programme)
        is_over = not is_stopped and await self._lines.is_over(programme, now)
        room = 0 if reached is None else min(reached.room(), MOST)
        self._counting.silent(programme, is_silent=reached is not None and room < MOST)
        taken = await self._take(programme, now, room, is_over=is_over)
        by: dict[Act | None, list[Exchange]] = {}
        for each in taken:
            by.setdefault(act(each), []).append(each)
        asked = [each for which in _ASKS for each in by.get(which, ())]
        settled = [Step(each, each) for which in _SETTLES for each in by.get(which, ())]
        parts = list[Awaitable[None]]()
        if asked and reached is not None:
            parts.append(self._ask(reached, asked))
        if settled:
            parts.append(self._hearing.take(settled))
        if reviewed := by.get(Act.REVIEW):
            parts.append(self._review(reviewed, now))
        if incoming := [each for each in taken if each.state in _INCOMING]:
            parts.append(self._incoming.carry(incoming))
        await _side_by_side(parts)
        return len(taken)

    async def _review(self, some: Sequence[Exchange], now: datetime) -> None:
        await self._hearing.take(await self._reviews.looked_at(some, now))

    async def _due(self) -> list[str]:
        async with passing_failures():
            return await due_programmes(self._pool, self._clock.now())

    def _begin(self, programmes: Sequence[str]) -> None:
        for name in programmes:
            tasks = self._under_way.setdefault(name, set())
            if len(tasks) < AT_ONCE:
                task = asyncio.get_running_loop().create_task(self._lane(name))
                tasks.add(task)
                task.add_done_callback(tasks.discard)

    async def _lane(self, name: str) -> None:
        try:
            while await self.carry(name) == MOST:
                pass
        except Unavailable as error:
            log.warning("exchanges of a programme are not gone on with", programme=name, away=error)

    async def _purge(self) -> None:
        """Quotes that nobody converted are forgotten; where there are many, some at a time."""
        now = self._clock.now()
        if self._purge_at is None or now >= self._purge_at:
            async with passing_failures():
                names = await all_programmes(self._pool)
                left = [await forget_quotes(self._pool, each, now - _QUOTES_KEPT, MOST) == MOST for each in names]
            self._purge_at = now if any(left) else now + _PURGE_EVERY

    async def _take(self, programme: str, now: datetime, room: int, *, is_over: bool) -> list[Exchange]:
        """Exchanges for which something is due, as they are once it is begun; `room` of them may need the partner.

        Versions are read while no connection is held: who holds one and waits for another waits for itself.
        """
        ours = (*OURS, State.HELD) if is_over else OURS
        while True:
            seen = self._seen.get(programme, frozenset())
            versions = {each: await self._version(programme, each) for each in seen}
            async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
                rows = await due(connection, programme, now, room) if room else []
                if room < MOST:
                    known = {each.exchange_id for each in rows}
                    more = await due_of_ours(connection, programme, now, MOST, ours)
                    rows += [each for each in more if each.exchange_id not in known]
                new = {each.version for each in rows} - versions.keys()
                if not new:
                    steps = [self._woken(each, now, versions[each.version], is_over=is_over) for each in rows]
                    await self._lease(connection, steps, now)
                    return [each.after for each in steps if each.after.due_at is not None and each.after.due_at <= now]
            self._seen[programme] = seen | new

    async def _lease(self, connection: Connection, steps: Sequence[Step], now: datetime) -> None:
        until = now + LEASE
        leased = [
            each._replace(after=later(each.after, until))
            if each.after.due_at is not None and each.after.due_at <= now
            else each
            for each in steps
        ]
        await write(connection, leased)

    async def _version(self, programme: str, version: int) -> Programme | None:
        """None where a restored house has lost the version: its exchanges wait. Raises `Unavailable`."""
        try:
            return await self._version_of(programme, version)
        except Unavailable as error:
            if error.dependency == DEPENDENCY:
                raise
            log.warning("exchanges wait for their version", programme=programme, version=version, why=error)
            return None

    def _woken(self, each: Exchange, now: datetime, programme: Programme | None, *, is_over: bool) -> Step:
        if programme is None:
            return Step(each, later(each, now + _NOT_NOW))
        if each.state is State.RESERVED:
            return Step(each, each)
        if each.state is not State.HELD or self._lines.may_begin(each, now):
            after = woken(each, now, programme)
        elif is_over:
            after = called_off(each, now, Reason.PROGRAMME_OVER)
        else:
            return Step(each, later(each, now + _NOT_NOW))
        told = trail(each, after, now, BY)
        return Step(each, after, [told] if told else [])

    async def _ask(self, reached: Reached, asked: Sequence[Exchange]) -> None:
        """Side by side; what has been said is written together."""
        putting = [each for each in asked if act(each) is Act.PUT]
        accounts = await self._accounts_of([each.link_id for each in putting]) if putting else {}
        gone = [each for each in putting if each.link_id not in accounts]
        if gone:
            await self._hearing.take([self._unlinked(each) for each in gone])
        turns = asyncio.Semaphore(reached.side_by_side)

        async def ask(each: Exchange) -> Said:
            async with turns:
                begun = time.perf_counter()
                heard = await _asked(reached.port, each, accounts)
                self._counting.asked(each.programme, time.perf_counter() - begun)
            return Said(each, heard)

        there = [each for each in asked if act(each) is not Act.PUT or each.link_id in accounts]
        await self._hearing.all(await asyncio.gather(*map(ask, there)), BY)

    def _unlinked(self, each: Exchange) -> Step:
        now = self._clock.now()
        after = unlinked(each, now)
        told = trail(each, after, now, BY)
        return Step(each, after, [told] if told else [])


async def _side_by_side(parts: Sequence[Awaitable[None]]) -> None:
    """What is slow or away for one part holds up no other. Raises `Unavailable` at the end."""
    came = await asyncio.gather(*parts, return_exceptions=True)
    faults = [each for each in came if each is not None]
    for each in faults[1:]:
        log.warning("exchanges of a programme are not gone on with", away=each)
    if faults:
        raise next((each for each in faults if not isinstance(each, Unavailable)), faults[0])


async def _asked(port: TransferPort, each: Exchange, accounts: Mapping[UUID, Account]) -> Heard:
    match act(each):
        case Act.PUT:
            return await port.put(_transfer(each, accounts[each.link_id]))
        case Act.CANCEL:
            return await port.cancel(each.exchange_id)
        case Act.REVERSE:
            return await port.reverse(each.exchange_id)
        case _:
            return await port.get(each.exchange_id)


def _transfer(each: Exchange, account: Account) -> Transfer:
    return Transfer(
        exchange_id=each.exchange_id,
        account=account,
        amount=each.theirs,
        points=each.points,
        programme=f"{each.programme}@{each.version}",
        asked_at=each.asked_at or each.quoted_at,
    )
