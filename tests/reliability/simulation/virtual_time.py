"""An event loop on which time passes only when nobody has anything to do, and then at once."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from tests.support.fixed_clock import FixedClock

Case = ParamSpec("Case")
Result = TypeVar("Result")

_SOME_DAY: Final = datetime(2026, 1, 1, tzinfo=UTC)

_STANDSTILL: Final = 100_000


class Stuck(Exception):
    """Everybody waits for somebody and no timer is running, or somebody runs and runs and lets no time pass."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer when idle, and sets a clock to the same moment.

    It looks at no socket and takes no call from another thread, so a run depends on nothing outside it.
    """

    def __init__(self, clock: FixedClock) -> None:
        self._start: datetime = clock.now()
        self._virtual_clock = clock
        self._elapsed_s = 0.0
        super().__init__(_Jumping(self._pass))

    def time(self) -> float:
        return self._elapsed_s

    def _pass(self, seconds: float) -> None:
        self._elapsed_s += seconds
        self._virtual_clock.set(self._start + timedelta(seconds=self._elapsed_s))


class _Jumping(selectors.SelectSelector):
    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump
        self._turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck("nothing will ever happen again")
        self._turns += 1
        if timeout > 0:
            self._turns = 0
            self._jump(timeout)
        elif self._turns > _STANDSTILL:
            self._turns = 0
            raise Stuck("time does not pass any more: somebody goes round in circles")
        return []


def run_virtually(main: Coroutine[Any, Any, Result], clock: FixedClock) -> Result:
    """Run to the end, then cancel whatever is left."""
    loop = VirtualTimeLoop(clock)
    # Tasks that a crashed process leaves behind end as they may; the invariants look at effects.
    loop.set_exception_handler(lambda _loop, _context: None)
    try:
        return loop.run_until_complete(main)
    finally:
        try:
            loop.run_until_complete(_cancel_what_is_left())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


def virtually(test: Callable[Case, Coroutine[Any, Any, None]]) -> Callable[Case, None]:
    """A test on a loop of its own with virtual time: neither a busy machine nor a quick one changes what happens."""

    @wraps(test)
    def run(*args: Case.args, **kwargs: Case.kwargs) -> None:
        run_virtually(test(*args, **kwargs), FixedClock(_SOME_DAY))

    return run


async def _cancel_what_is_left() -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
