"""Rounds in which one ledger after the other is posted to, for as long, by processes that begin together."""

import statistics
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from itertools import count
from typing import Final, NamedTuple

import uvloop

from abacus.core.errors import Unavailable
from benchmarks.posting_rounds import AWARDERS, timed
from benchmarks.rivals.port import Rival, Room, Work

_PERCENTILE: Final = 100


class Share(NamedTuple):
    """The part of a round that one process posts: every so many calls from the first, until its time is over."""

    room: Room
    work: Work
    a_call: int
    connections: int
    first: int
    every: int
    seconds: float


class Posted(NamedTuple):
    """The calls of a process, each by its seconds, from when it began until it ended."""

    began: float
    ended: float
    took: list[float]
    refusal: str = ""  # the first that the ledger gave; calls after it are not made


class Pace(NamedTuple):
    """The calls of several rounds, and the seconds that the rounds took."""

    a_call: int
    seconds: float
    took: list[float]

    @property
    def grants(self) -> int:
        return len(self.took) * self.a_call

    @property
    def per_s(self) -> float:
        return self.grants / self.seconds

    @property
    def p99_s(self) -> float:
        return statistics.quantiles(self.took, n=_PERCENTILE)[-1] if len(self.took) > 1 else max(self.took)


class Turns:
    """The rounds of one ledger. Each goes on with calls that no round has made."""

    def __init__(self, rival: Rival, room: Room, posters: Executor) -> None:
        self.rival = rival
        self.room = room
        self._posters = posters
        self._next = 0

    def post(self, work: Work, seconds: float) -> Pace:
        """Raises `Unavailable` with what the ledger refused."""
        rival = self.rival
        shares = [
            Share(self.room, work, rival.a_call, rival.connections, self._next + number, AWARDERS, seconds)
            for number in range(AWARDERS)
        ]
        posted = list(self._posters.map(post, shares))
        if refusals := [each.refusal for each in posted if each.refusal]:
            raise Unavailable(rival.name, refusals[0])
        took = [each for one in posted for each in one.took]
        self._next += AWARDERS * max(len(one.took) for one in posted)
        return Pace(rival.a_call, max(one.ended for one in posted) - min(one.began for one in posted), took)


def together(paces: Sequence[Pace]) -> Pace:
    return Pace(paces[0].a_call, sum(each.seconds for each in paces), [took for each in paces for took in each.took])


def post(share: Share) -> Posted:
    return uvloop.run(_post(share))


async def _post(share: Share) -> Posted:
    took: list[float] = []
    refusals: list[str] = []
    numbers = count(share.first, share.every)
    async with share.room.opened(share.connections) as ledger:

        async def hand() -> None:
            until = time.monotonic() + share.seconds
            while not refusals and (began := time.monotonic()) < until:
                try:
                    await ledger.post(share.work.call(next(numbers), share.a_call))
                except Unavailable as refusal:
                    refusals.append(str(refusal))
                took.append(time.monotonic() - began)

        began, ended = await timed(hand, share.connections)
    return Posted(began, ended, took, "".join(refusals[:1]))
