"""The loop that delivers: it takes due deliveries, attempts many at once, and settles the ended attempts together.

A delivery is taken for a while. When a process is killed, another one takes its deliveries after that while and
attempts them again, under the same ids.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final, Generic, Protocol

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import LineStopped
from abacus.platform.delivery.decide.schedule import Schedule
from abacus.platform.delivery.types import Answer, ClaimT, Concurrency, DeliveryOutcome, Room, Settled
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available


def room(concurrency: Concurrency, under_way: Iterable[str], failing: Collection[str]) -> Room:
    """Where deliveries to one receiver are limited, a slow receiver holds up only itself. A receiver whose last
    delivery failed gets one at a time until one succeeds, so that hanging receivers do not take the room of the others.
    """
    busy = Counter(under_way)
    most = concurrency.at_once - busy.total()
    if concurrency.per_receiver is None:
        return Room(most, most, {})
    busy.update(dict.fromkeys(failing, concurrency.per_receiver - 1))
    return Room(most, concurrency.per_receiver, busy)


class Periodic:
    """An action that is due at once, and again `every_s` after it was done. A failed action stays due."""

    def __init__(self, action: Callable[[], Awaitable[None]], every_s: float) -> None:
        self._action = action
        self._every_s = every_s
        self._done_at = float("-inf")

    async def if_due(self) -> None:
        if time.monotonic() - self._done_at >= self._every_s:
            await self._action()
            self._done_at = time.monotonic()


IDLE_S: Final = 0.2
_TAKE_WITHIN_S: Final = 3.0
_DRAIN_S: Final = 20.0  # an attempt takes less

log = structlog.get_logger(__name__)


class Deliveries(Protocol[ClaimT]):
    """The table. Both methods raise `Unavailable` while the database is away."""

    async def take(self, room: Room) -> Sequence[ClaimT]:
        """Takes due deliveries, longest due first. No other process takes them until the lease is over."""
        ...

    async def settle(self, settled: Sequence[Settled[ClaimT]]) -> None:
        """Writes verdicts down; repeating a call has no effect. A delivery is kept as delivered even if another process
        has the claim by now; any other verdict counts only under this claim.
        """
        ...


class Deliverer(Generic[ClaimT]):
    """One for each table or channel and process; any number of processes share the work."""

    def __init__(
        self,
        deliveries: Deliveries[ClaimT],
        attempt: Callable[[ClaimT], Awaitable[Answer]],
        schedule: Schedule[ClaimT],
        concurrency: Concurrency,
        *,
        clock: Clock,
        health: WorkerHealth,
        on_settled: Callable[[Settled[ClaimT]], None],
        periodically: Sequence[Periodic] = (),
        idle_s: float = IDLE_S,
    ) -> None:
        """`on_settled` is called for each attempt whose verdict was written down: to count it, and to log the faults
        that need a person.
        """
        self._deliveries = deliveries
        self._attempt = attempt
        self._schedule = schedule
        self._concurrency = concurrency
        self._clock = clock
        self._health = health
        self._on_settled = on_settled
        self._periodically = periodically
        self._idle_s = idle_s
        self._tasks: dict[asyncio.Task[None], ClaimT] = {}  # one for each claim, until its verdict is written down
        self._under_way: list[str] = []  # the receiver of each attempt that goes on
        self._failing: set[str] = set()
        self._to_settle: list[Settled[ClaimT]] = []
        self._settling = asyncio.Lock()
        self._ended = 0  # attempts, since deliveries were taken last
        self._settling_lags = False
        self._take_more = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; then the attempts under way are finished, or left for another process."""
        try:
            while not stop.is_set():
                taking = until_available(self._take, self._health)
                await unless_stopped(taking, stop, grace_s=_TAKE_WITHIN_S)
                await unless_stopped(self._until_more_may_be_taken(), stop)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_DRAIN_S)
        finally:
            left = list(self._tasks)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _take(self) -> None:
        self._ended = 0
        self._take_more.clear()
        free = room(self._concurrency, self._under_way, self._failing)
        # Attempts that ended leave their room to others while they wait to be settled: up to as many again.
        most = min(free.most, 2 * self._concurrency.at_once - len(self._tasks))
        self._settling_lags = most < free.most
        if most > 0:
            for claim in await self._deliveries.take(free._replace(most=most)):
                self._under_way.append(claim.receiver)
                task = asyncio.create_task(self._deliver(claim))
                self._tasks[task] = claim
                task.add_done_callback(self._is_done)
        for each in self._periodically:
            await each.if_due()
        self._health.ready()

    async def _until_more_may_be_taken(self) -> None:
        """Waits until a batch of attempts has ended, or for a moment: another delivery may be due by then."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._idle_s):
                await self._take_more.wait()

    def _is_done(self, task: asyncio.Task[None]) -> None:
        claim = self._tasks.pop(task)
        if self._settling_lags:
            self._take_more.set()
        if not task.cancelled() and (error := task.exception()):
            # A bug. This delivery is attempted again when its lease is over, and all others go on.
            log.error("delivery failed", id=claim.id, receiver=claim.receiver, exc_info=error)

    async def _deliver(self, claim: ClaimT) -> None:
        try:
            answer = await self._attempt(claim)
        finally:
            self._has_ended(claim)
        verdict = self._schedule.verdict(claim, answer, self._clock.now())
        if self._concurrency.per_receiver is not None:
            if verdict.outcome is DeliveryOutcome.DELIVERED:
                self._failing.discard(claim.receiver)
            else:
                self._failing.add(claim.receiver)
        self._to_settle.append(Settled(claim, answer, verdict))
        # The first attempt to come here settles for all that ended meanwhile.
        async with self._settling:
            await asyncio.sleep(0)  # lets attempts that end at this moment be settled too
            batch, self._to_settle = self._to_settle, []
            if batch:
                await self._settle(batch)

    def _has_ended(self, claim: ClaimT) -> None:
        self._under_way.remove(claim.receiver)
        self._ended += 1
        if self._ended >= self._concurrency.batch or not self._under_way:
            self._take_more.set()

    async def _settle(self, batch: Sequence[Settled[ClaimT]]) -> None:
        try:
            await until_available(lambda: self._deliveries.settle(batch), self._health)
        except LineStopped:
            raise
        except Exception as error:  # whatever is wrong with one settlement must not hold up the others
            if len(batch) > 1:
                for each in batch:
                    await self._settle([each])
                return
            claim = batch[0].claim
            log.error("verdict not written down", id=claim.id, receiver=claim.receiver, exc_info=error)  # noqa: TRY400  # exc_info is the exception
            return
        for each in batch:
            self._on_settled(each)
