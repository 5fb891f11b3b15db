"""A process for the occasion: for work in Python that takes seconds, beside a loop that answers others."""

import asyncio
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import ParamSpec, TypeVar

from abacus.core.errors import Unavailable

Given = ParamSpec("Given")
Made = TypeVar("Made")


async def in_a_process(function: Callable[Given, Made], /, *given: Given.args, **named: Given.kwargs) -> Made:
    """What the function makes; it, and all that goes to and fro, is picklable. Raises `Unavailable` when the process
    was ended from outside.
    """
    executor = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        return await asyncio.wrap_future(executor.submit(function, *given, **named))
    except BrokenProcessPool as error:
        raise Unavailable("a process of its own", "it was ended from outside") from error
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """It ends silently on Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
