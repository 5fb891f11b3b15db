"""Works off a queue: receives messages, keeps them ours while the work lasts, and deletes them after it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Final, Literal

import structlog

from abacus.core.errors import LineStopped, Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import unless_stopped, until_available
from abacus.platform.sqs.port import CALL_ITEMS, Queue, Received

log = structlog.get_logger(__name__)

# Returns the messages whose effect is durable. Raises `Unavailable` when none is and trying again later makes sense.
Handler = Callable[[Sequence[Received]], Awaitable[Sequence[Received]]]

KEEP_S: Final = 60
REST_S: Final = 0.05
_KEEP_EVERY_S: Final = 20.0
_DRAIN_S: Final = 20.0


class QueueConsumer:
    """Several hands on one queue, each with up to ten messages.

    One hand receives at a time. A receive with fewer than ten has emptied the queue, so the next one waits a moment:
    messages that arrive one by one then come several at a time, for fewer calls and fewer transactions.

    A message is deleted only after the handler has returned it. While a dependency is down the hands keep what they
    hold and receive nothing new. A message that makes the handler fail is tried alone, and comes back until the queue's
    redrive policy moves it to the dead-letter queue.
    """

    def __init__(self, queue: Queue, handle: Handler, health: WorkerHealth, *, hands: int = 1) -> None:
        self._queue = queue
        self._handle = handle
        self._health = health
        self._hands = hands
        self._receiving = asyncio.Lock()
        self._rest_until = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Runs until `stop` is set; then the messages in hand are finished, or given back if that takes too long."""
        self._health.ready()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._hands):
                group.create_task(self._hand(stop))

    async def _hand(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            messages = await self._receive(stop)
            if messages:
                await self._finish_in_time(messages, stop)

    async def _receive(self, stop: asyncio.Event) -> list[Received]:
        """The next messages, or none when it is time to stop. A call that is cut off gives its messages back by
        their visibility timeout.
        """
        async with self._receiving:
            await unless_stopped(asyncio.sleep(self._rest_until - _now()), stop)
            messages = await unless_stopped(until_available(self._queue.receive, self._health), stop) or []
            self._rest_until = _now() + (REST_S if len(messages) < CALL_ITEMS else 0.0)
        return messages

    async def _finish_in_time(self, messages: Sequence[Received], stop: asyncio.Event) -> None:
        if await unless_stopped(self._work(messages), stop, grace_s=_DRAIN_S) is None:
            with contextlib.suppress(Unavailable):
                await self._queue.keep(messages, 0)

    async def _work(self, messages: Sequence[Received]) -> Literal[True]:
        async with self._kept(messages):
            done = await until_available(lambda: self._handle_isolating(messages), self._health)
            await until_available(lambda: self._queue.delete(done), self._health)
        return True

    async def _handle_isolating(self, messages: Sequence[Received]) -> Sequence[Received]:
        try:
            return await self._handle(messages)
        except (Unavailable, LineStopped):
            raise
        except Exception as error:
            if len(messages) == 1:
                self._health.failed(self._queue.name, error, messages[0].receives)
                log.exception(
                    "message failed", queue=self._queue.name, message=messages[0].id, receives=messages[0].receives
                )
                return []
        done: list[Received] = []
        for message in messages:
            done += await self._handle_isolating([message])
        return done

    @contextlib.asynccontextmanager
    async def _kept(self, messages: Sequence[Received]) -> AsyncIterator[None]:
        beating = asyncio.ensure_future(self._beat(messages))
        try:
            yield
        finally:
            beating.cancel()
            await asyncio.wait((beating,))

    async def _beat(self, messages: Sequence[Received]) -> None:
        while True:
            await asyncio.sleep(_KEEP_EVERY_S)
            try:
                await self._queue.keep(messages, KEEP_S)
            except Unavailable as error:
                log.warning("could not keep messages", queue=self._queue.name, away=error)
            except Exception as error:  # noqa: BLE001  # whatever it is, the next beat may still keep them
                log.warning("could not keep messages", queue=self._queue.name, detail=str(error))


def _now() -> float:
    return asyncio.get_running_loop().time()
