"""The loop that the simulation runs on: hours pass at once, and a standstill is found."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.reliability.simulation.virtual_time import Stuck, run_virtually
from tests.support.fixed_clock import FixedClock

START = datetime(2026, 5, 1, tzinfo=UTC)


def test_hours_pass_at_once_and_in_order() -> None:
    """A test that took these hours would never end within its limit."""
    clock, seen = FixedClock(START), list[timedelta]()

    async def sleeper(hours: int) -> None:
        await asyncio.sleep(hours * 3600)
        seen.append(clock.now() - START)

    async def main() -> None:
        await asyncio.gather(*(sleeper(hours) for hours in (3, 1, 2)))

    run_virtually(main(), clock)
    assert seen == [timedelta(hours=hours) for hours in (1, 2, 3)]


async def _for_ever() -> None:
    await asyncio.Event().wait()


async def _in_circles() -> None:
    while True:  # noqa: ASYNC110  # this is the mistake
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("work", "why"), [(_for_ever, "nothing will ever happen"), (_in_circles, "time does not pass")]
)
def test_a_standstill_is_found(work: Callable[[], Coroutine[Any, Any, None]], why: str) -> None:
    with pytest.raises(Stuck, match=why):
        run_virtually(work(), FixedClock(START))
