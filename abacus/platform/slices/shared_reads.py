"""Reads that share queries: what callers ask of a slice within a millisecond is one query. Each slice is read by
itself, so that a server that is silent holds up its own members only.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from itertools import chain
from typing import Final, Generic, TypeAlias, TypeVar

from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.postgres import Pool
from abacus.platform.slices.reach import Slice, slice_of

Request = TypeVar("Request")
Answer = TypeVar("Answer")

Read: TypeAlias = Callable[[Slice, Sequence[PendingRequest[Request, Answer]]], Awaitable[None]]

_GATHER_S: Final = 0.001
_MOST_TOGETHER: Final = 500


class SharedReads(Generic[Request, Answer]):
    """One for each process. `read` answers each of the requests that go together."""

    def __init__(self, pool: Pool, read: Read[Request, Answer], member_of: Callable[[Request], str]) -> None:
        self._pool = pool
        self._read = read
        self._member_of = member_of
        self._gatherers: dict[int, Gatherer[Request, Answer]] = {}

    async def ask(self, request: Request) -> Answer:
        """Raises `Unavailable`."""
        return await self._gatherer(await slice_of(self._pool, self._member_of(request))).ask(request)

    async def ask_all(self, requests: Collection[Request]) -> dict[Request, Answer | BaseException]:
        """The answer to each request, or why it has none. Raises `Unavailable` where no slice is known."""
        by_slice: dict[int, tuple[Slice, list[Request]]] = {}
        for request in requests:
            slice_ = await slice_of(self._pool, self._member_of(request))
            by_slice.setdefault(slice_.number, (slice_, []))[1].append(request)
        answers = await asyncio.gather(*(self._gatherer(slice_).ask_all(of) for slice_, of in by_slice.values()))
        asked = chain.from_iterable(of for _, of in by_slice.values())
        return dict(zip(asked, chain.from_iterable(answers), strict=True))

    def _gatherer(self, slice_: Slice) -> Gatherer[Request, Answer]:
        gatherer = self._gatherers.get(slice_.number)
        if gatherer is None:
            read = partial(self._read, slice_)
            gatherer = Gatherer(read, gather_s=_GATHER_S, most_together=_MOST_TOGETHER)
            self._gatherers[slice_.number] = gatherer
        return gatherer
