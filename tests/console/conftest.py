"""What the tests of the console share within a process."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.console.window import a_browser


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """To start one takes longer than most tests; each window has cookies of its own."""
    async with a_browser() as opened:
        yield opened
