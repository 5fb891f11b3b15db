"""What the tests of the console share within a process."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from tests.console.window import a_browser
from tests.support.once import run_once

pytest_collection_modifyitems = run_once(__file__)  # pages are the same on every service


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """To start one takes longer than most tests; each window has cookies of its own."""
    async with a_browser() as opened:
        yield opened
