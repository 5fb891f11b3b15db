"""Each test here holds for the blocking client and for the awaited one."""

from collections.abc import AsyncIterator

import pytest

from tests.client.asking import closed
from tests.client.scripted import ScriptedApi
from tests.support.once import run_once

pytest_collection_modifyitems = run_once(__file__)  # what a client sees is the same on every service


@pytest.fixture(params=[False, True], ids=["blocking", "awaited"])
async def api(request: pytest.FixtureRequest) -> AsyncIterator[ScriptedApi]:
    scripted = ScriptedApi(awaited=request.param)
    yield scripted
    for client in scripted.clients:
        await closed(client)
