"""Gathers requests that arrive within a few milliseconds into one call, and answers each caller by itself."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class PendingRequest(NamedTuple, Generic[Request, Answer]):
    """A request, and the future that its caller waits on. A caller that has left, or has an answer, is given none."""

    request: Request
    future: "asyncio.Future[Answer]"

    def answer(self, answer: Answer) -> None:
        if not self.future.done():
            self.future.set_result(answer)

    def refuse(self, error: Exception) -> None:
        if not self.future.done():
            self.future.set_exception(error)


Work: TypeAlias = Callable[[Sequence[PendingRequest[Request, Answer]]], Awaitable[None]]


class Gatherer(Generic[Request, Answer]):
    """Hands the requests over in the order of their arrival: `work` answers or refuses each. An exception of `work` is
    raised to every caller without an answer; later callers are not affected.

    A round begins `gather_s` after its first request and takes at most `most_together` requests, each counted as
    `size_of` says, or one that is larger; at most `at_once` rounds run at a time, and later requests wait. A round has
    `room` while it runs, and takes what has come until there is room for it; where there can be none, its callers are
    told why.
    """

    def __init__(
        self,
        work: Work[Request, Answer],
        *,
        gather_s: float,
        most_together: int | None = None,
        at_once: int | None = None,
        size_of: Callable[[Request], int] | None = None,
        room: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> None:
        self._work = work
        self._room = room
        self._gather_s = gather_s
        self._most_together = most_together
        self._size_of = size_of
        self._turn: AbstractAsyncContextManager[None] = nullcontext() if at_once is None else asyncio.Semaphore(at_once)
        self._waiting: deque[PendingRequest[Request, Answer]] = deque()
        self._under_way: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """Requests that no round has taken yet."""
        return len(self._waiting)

    async def ask(self, request: Request) -> Answer:
        """The answer to this request. A caller may leave; its request is worked on all the same."""
        return await self._entered(request)

    async def ask_all(self, requests: Sequence[Request]) -> "list[Answer | BaseException]":
        """The answer to each of these requests, or why it has none."""
        return await asyncio.gather(*(self._entered(request) for request in requests), return_exceptions=True)

    def _entered(self, request: Request) -> "asyncio.Future[Answer]":
        waiting: PendingRequest[Request, Answer] = PendingRequest(request, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if len(self._waiting) == 1:
            self.beside(self._round())
        return waiting.future

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs a task beside the rounds; `close` waits for it too."""
        task = asyncio.get_running_loop().create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def close(self) -> None:
        """Returns when no round and no task is running any more."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def _round(self) -> None:
        await asyncio.sleep(self._gather_s)
        async with self._turn:
            together: Sequence[PendingRequest[Request, Answer]] = ()
            error: Exception = RuntimeError("the work on this request ended without an answer")
            try:
                async with self._room():
                    together = self._next()
                    await self._work(together)
            except Exception as failure:  # noqa: BLE001  # whatever it is, each caller is told
                error = failure
                together = together or self._next()
            for waiting in together:
                waiting.refuse(error)

    def _next(self) -> Sequence[PendingRequest[Request, Answer]]:
        """The requests of a round; another round is begun for requests beyond its limit."""
        together = [self._waiting.popleft() for _ in range(self._number())]
        if self._waiting:
            self.beside(self._round())
        return together

    def _number(self) -> int:
        """How many of the waiting requests a round takes."""
        most = self._most_together
        if most is None or self._size_of is None:
            return len(self._waiting) if most is None else min(most, len(self._waiting))
        number = size = 0
        for waiting in self._waiting:
            size += self._size_of(waiting.request)
            if number and size > most:
                break
            number += 1
        return number
