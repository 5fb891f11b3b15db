"""One trial: a worker is given work and killed at a point; another one takes over; then everything has to be right."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, NamedTuple

from tests.reliability.chaos.crashes.lane import Lane, Running
from tests.reliability.chaos.crashes.work import Work

_DONE_WITHIN_S: Final = 90.0
_THROUGH_WITHIN_S: Final = 180.0
_LOOK_EVERY_S: Final = 0.1


class Outcome(NamedTuple):
    """The outcome of a trial: whether the worker died at its point, the points that it visited, the faults."""

    died: bool
    visited: frozenset[str]
    faults: tuple[str, ...]
    seconds: float = 0.0
    broke_off: bool = False  # a service did not answer the trial itself


async def attempt(lane: Lane, work: type[Work], mark: str, fatal: str | None) -> Outcome:
    """Kill the worker at that point; without one, note the points that it visits from its start to its end."""
    started = time.monotonic()
    await lane.staff(work.worker)
    lane.book_of_visits.unlink(missing_ok=True)
    task = work(lane, mark)
    await task.lay_out()
    async with task.hindered():
        victim = lane.start(work.worker, book=lane.book_of_visits, fatal=fatal, paces=work.paces)
        is_done = await _while_it_lives(victim, task.is_done)
        await victim.end()
    visited = lane.visited()
    died = victim.was_killed and visited == {fatal}
    await task.follow_up()
    successor = lane.start(work.worker)
    try:
        is_through = await _until(lambda: _is_through(lane, task), _THROUGH_WITHIN_S)
    finally:
        await successor.end()
    faults = [*await lane.audit(task.due), *await task.more_faults()]
    if fatal is None and not is_done:
        faults.append(f"the worker was not done after {_DONE_WITHIN_S:.0f} s, so it has not been everywhere")
    if not is_through:
        faults.append(f"not through after {_THROUGH_WITHIN_S:.0f} s")
    return Outcome(died, visited, tuple(faults), time.monotonic() - started)


async def _is_through(lane: Lane, task: Work) -> bool:
    return await lane.is_through(task.due) and await task.is_through()


async def _while_it_lives(victim: Running, is_done: Callable[[], Awaitable[bool]]) -> bool:
    """Wait until the work is done or the worker dead; whether the work is done. No look is cut off: a client of Kafka
    may not notice, and then the wait goes on to its end.
    """
    done = False

    async def is_over() -> bool:
        nonlocal done
        done = not victim.ended.is_set() and await is_done()
        return done or victim.ended.is_set()

    await _until(is_over, _DONE_WITHIN_S)
    return done


async def _until(condition: Callable[[], Awaitable[bool]], within_s: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            while not await condition():  # noqa: ASYNC110  # the work is done in another process
                await asyncio.sleep(_LOOK_EVERY_S)
            return True
    return False
