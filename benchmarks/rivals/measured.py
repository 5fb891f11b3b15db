"""The same awards posted to this ledger and to others: rate, p99, bytes, and what is left after `kill -9`.

All are posted to in turns, by as many processes, for as long. What an issuer gives is drawn for each grant.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from benchmarks.posting_rounds import AWARDERS, processes
from benchmarks.report import Figure
from benchmarks.rivals.chosen import named, not_named
from benchmarks.rivals.killed import kill
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.port import Rival, Work
from benchmarks.rivals.rounds import Pace, Turns, together
from benchmarks.rivals.table import ISSUERS, Posted, after_a_kill, beside, gave_up
from benchmarks.services import postgres_alone


class Size(NamedTuple):
    """How much is posted."""

    members: int
    rounds: int
    seconds: float  # of a round
    warm_up_s: float
    killed_after: int  # grants acknowledged


WHOLE: Final = Size(members=100_000, rounds=3, seconds=8.0, warm_up_s=3.0, killed_after=2_000)
SHORT: Final = Size(members=10_000, rounds=1, seconds=1.0, warm_up_s=0.2, killed_after=600)


class Side:
    """A ledger in its turns. One that gives up is passed over from then on, and the others go on."""

    def __init__(self, turns: Turns) -> None:
        self.rival = turns.rival
        self.refusal = ""
        self._turns = turns
        self._paces: list[Pace] = []
        self._unjudged: list[Pace] = []
        self._before: int | None = None

    async def warm_up(self, work: Work, seconds: float) -> None:
        self._before, self._paces, self._unjudged = await self._size(), [], []
        await self._post(work, seconds, self._unjudged)

    async def post(self, work: Work, seconds: float) -> None:
        await self._post(work, seconds, self._paces)

    async def _post(self, work: Work, seconds: float, paces: list[Pace]) -> None:
        try:
            if not self.refusal:
                paces.append(await asyncio.to_thread(self._turns.post, work, seconds))
        except Unavailable as refusal:
            self.refusal = str(refusal)

    async def posted(self, issuers: int) -> Posted | str:
        """What it did since it was warm; what it refused, if it gave up."""
        if self.refusal:
            return self.refusal
        after, grants = await self._size(), together([*self._unjudged, *self._paces]).grants
        bytes_ = None if after is None or self._before is None else (after - self._before) / grants
        return Posted(self.rival, issuers, together(self._paces), bytes_)

    async def _size(self) -> int | None:
        async with self._turns.room.opened(1) as ledger:
            return await ledger.size()


async def measure(directory: Path, chosen: argparse.Namespace) -> list[Figure]:
    async with postgres_alone(directory) as server:
        size = SHORT if chosen.short else WHOLE._replace(members=chosen.accounts // 10)
        return [*await compare(Ours(server), named(chosen, server), size), *not_named(chosen)]


async def compare(ours: Rival, rivals: Sequence[Rival], size: Size) -> list[Figure]:
    """Our ledger comes first in each turn, and in the table."""
    figures: list[Figure] = []
    with processes(AWARDERS) as posters:
        async for posted in _posted([ours, *rivals], size, posters):
            figures += beside(posted)
    for rival in (ours, *rivals):
        figures += await _after_a_kill(rival, size, judged=rival is ours)
    return figures


async def _posted(
    rivals: Sequence[Rival], size: Size, posters: Executor
) -> AsyncIterator[Sequence[tuple[Rival, Posted | str]]]:
    """For each number of issuers. Ledgers take turns, so the machine's load affects all alike."""
    work = Work(size.members, max(ISSUERS))
    async with AsyncExitStack() as stack:
        sides = [Side(Turns(rival, await stack.enter_async_context(rival.room(work)), posters)) for rival in rivals]
        for issuers in ISSUERS:
            drawn = work._replace(issuers=issuers)
            for side in sides:
                await side.warm_up(drawn, size.warm_up_s)
            for _ in range(size.rounds):
                for side in sides:
                    await side.post(drawn, size.seconds)
            yield [(side.rival, await side.posted(issuers)) for side in sides]


async def _after_a_kill(rival: Rival, size: Size, *, judged: bool) -> Iterable[Figure]:
    work = Work(size.members, max(ISSUERS))
    try:
        async with rival.room(work) as room:
            left = await kill(rival, room, work, max(1, size.killed_after // rival.a_call))
    except Unavailable as refusal:
        if judged:
            raise
        return [gave_up(f"{rival.name}, its poster killed by SIGKILL", str(refusal))]
    return after_a_kill(rival, left, judged=judged)
