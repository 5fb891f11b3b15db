"""The server of a run's databases and their template, made once for all processes that run tests.

Each process made its own before, which took a core some ten seconds. A process of its own makes them now, while tests
are collected, which keeps one core busy.
"""

import asyncio
import gc
import json
import multiprocessing
import os
import signal
import traceback
from select import select
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

from tests.support.template import made_template, opened_server

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

_FORK: Final = multiprocessing.get_context("fork")
_ASKS: Final = "services"
_MANY: Final = 1000
_TOLD_BYTES: Final = 16_384


class Shared(NamedTuple):
    """The address of the server, and the name of the template on it."""

    database_url: str
    template: str


class SharedTemplate:
    """Begins with the first test that asks for services: at once where many are collected, as some of them will be run,
    and else when it is known which are.
    """

    name: Final = "abacus template"

    def __init__(self) -> None:
        self._collected = 0
        self._process: ForkProcess | None = None
        self._told = _FORK.RawArray("c", _TOLD_BYTES)
        self._hears, self._tells = os.pipe()  # closed when it is told
        self._lives, self._lifeline = os.pipe()  # closed when the run ends

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        self._collected += 1
        if self._collected > _MANY and _asks(item):
            self._begin(item.config)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if any(map(_asks, session.items)):
            self._begin(session.config)

    def pytest_unconfigure(self) -> None:
        os.close(self._lifeline)
        if self._process is not None:
            self._process.join()

    async def made(self) -> Shared:
        """Waits for it. Raises what went wrong."""
        await asyncio.to_thread(select, [self._hears], [], [])
        told: dict[str, Any] = json.loads(self._told.value or b"{}")
        if "template" not in told:
            raise RuntimeError(f"there is no template: {told.get('failure', 'its process is gone')}")
        return Shared(**told)

    def _begin(self, config: pytest.Config) -> None:
        if self._process is not None or config.option.collectonly:
            return
        self._process = _FORK.Process(target=self._serve, name="template of tests", daemon=True)
        self._process.start()
        os.close(self._tells)

    def _serve(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run ends first
        os.close(self._lifeline)
        gc.enable()
        try:
            asyncio.run(self._serving())
        except Exception:
            if not self._told.value:
                self._tell(failure=traceback.format_exc()[-_TOLD_BYTES // 2 :])
            raise

    async def _serving(self) -> None:
        async with opened_server() as database_url, made_template(database_url) as template:
            self._tell(database_url=database_url, template=template)
            await asyncio.to_thread(os.read, self._lives, 1)

    def _tell(self, **what: str) -> None:
        self._told.value = json.dumps(what).encode()
        os.close(self._tells)


def _asks(item: pytest.Item) -> bool:
    return _ASKS in getattr(item, "fixturenames", ())
