"""A poster that is killed with SIGKILL while calls are under way: what was acknowledged and is not there, and what is
there twice once calls have been made again.
"""

import asyncio
import multiprocessing
import signal
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from pickle import UnpicklingError
from typing import Final, NamedTuple

import uvloop

from abacus.core.errors import Unavailable
from benchmarks.rivals.port import Ledger, Rival, Room, Sums, Work

_LOOK_EVERY_S: Final = 1.0


class Calls(NamedTuple):
    """The calls that a poster began, and those of them that were acknowledged."""

    begun: frozenset[int]
    acknowledged: frozenset[int]


class Aftermath(NamedTuple):
    """What became of the grants of a poster that was killed."""

    acknowledged: int
    lost: int
    under_way: int
    kept: int  # of those under way
    twice: int  # once the calls that were not acknowledged had been made again
    twice_if_all: int  # once all of them had been
    sums: Sums


async def kill(rival: Rival, room: Room, work: Work, after: int) -> Aftermath:
    """Kills a poster once so many calls are acknowledged. Raises `Unavailable` if the ledger gives up before."""
    calls = await asyncio.to_thread(_killed, rival, room, work, after)
    acknowledged, under_way = (
        {grant.number for number in numbers for grant in work.call(number, rival.a_call)}
        for numbers in (calls.acknowledged, calls.begun - calls.acknowledged)
    )
    async with room.opened(1) as ledger:
        there = await _settled(ledger)
        await _again(ledger, rival, work, calls.begun - calls.acknowledged)
        twice = _twice(await ledger.counted())
        await _again(ledger, rival, work, calls.begun)
        return Aftermath(
            len(acknowledged),
            len(acknowledged - there.keys()),
            len(under_way),
            len(under_way & there.keys()),
            twice,
            _twice(await ledger.counted()),
            await ledger.sums(),
        )


def _killed(rival: Rival, room: Room, work: Work, after: int) -> Calls:
    spawning = multiprocessing.get_context("spawn")
    hearing, telling = spawning.Pipe(duplex=False)
    poster = spawning.Process(target=_post, args=(telling, room, work, rival.a_call, rival.connections), daemon=True)
    poster.start()
    telling.close()
    begun: set[int] = set()
    acknowledged: set[int] = set()
    with suppress(EOFError, UnpicklingError):  # it was killed, perhaps in the midst of a word
        while True:
            number, is_done = hearing.recv()
            (acknowledged if is_done else begun).add(number)
            if is_done and len(acknowledged) == after:
                poster.kill()
    poster.join()
    if poster.exitcode != -signal.SIGKILL:
        raise Unavailable(rival.name, f"its poster ended after {len(acknowledged):,} of {after:,} calls")
    return Calls(frozenset(begun), frozenset(acknowledged))


def _post(telling: Connection, room: Room, work: Work, a_call: int, connections: int) -> None:
    """Posts without end, and tells of each call before it and after it."""

    async def main() -> None:
        numbers = count()
        async with room.opened(connections) as ledger:

            async def hand() -> None:
                for number in numbers:
                    telling.send((number, False))
                    await ledger.post(work.call(number, a_call))
                    telling.send((number, True))

            await asyncio.gather(*(hand() for _ in range(connections)))

    uvloop.run(main())


async def _settled(ledger: Ledger) -> Counter[int]:
    """What is there once the server is done with the calls whose caller is gone."""
    there, before = await ledger.counted(), None
    while there != before:
        await asyncio.sleep(_LOOK_EVERY_S)
        there, before = await ledger.counted(), there
    return there


async def _again(ledger: Ledger, rival: Rival, work: Work, calls: Iterable[int]) -> None:
    for number in sorted(calls):
        await ledger.post(work.call(number, rival.a_call))


def _twice(there: Counter[int]) -> int:
    return sum(times - 1 for times in there.values() if times > 1)
