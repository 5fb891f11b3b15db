"""Errands that run for real, beside a desk."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from abacus.console.errands.runner import ErrandRunner
from abacus.console.errands.store import ErrandStore
from tests.console.desk import Desk
from tests.support.house import House


@asynccontextmanager
async def running(open_desk: Desk, house: House, **more: str) -> AsyncIterator[None]:
    environment = {**os.environ, **house.settings.environment(), **more}
    runner = asyncio.create_task(ErrandRunner(open_desk.rooms[ErrandStore], environment).keep_running())
    try:
        yield
    finally:
        runner.cancel()
        with suppress(asyncio.CancelledError):
            await runner
