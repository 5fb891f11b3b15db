"""Servers of a test's own that can be killed and started again, and a store that outlives them."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from abacus.core.errors import Unavailable
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Count, Row, RowKey, SlotRange
from localstack.daemon import Daemon, stop
from localstack.services import SERVICES, Ports, Service, ready
from tests.signals.counters.store.wrapped import WrappedStore
from tests.support.ports import free_port

_AGAIN_S: Final = 0.2
_STARTS: Final = 50

_Answer = TypeVar("_Answer")


class Server:
    """One of the services, in a folder and on ports of its own."""

    def __init__(self, service: Service, ports: Ports) -> None:
        self.ports = ports
        self._service = service

    async def start(self) -> None:
        """Returns when it can be used. One that was killed may leave processes that hold its memory for a moment."""
        for _ in range(_STARTS):
            self._service.start(self._service.daemon, self.ports)
            try:
                return await ready(self._service, self.ports)
            except Unavailable:
                if self._service.daemon.process() is not None:
                    raise
                await asyncio.sleep(_AGAIN_S)
        raise Unavailable(self._service.daemon.name, f"cannot be started: {self._service.daemon.log_tail()}")

    async def kill(self) -> None:
        process = self._service.daemon.process()
        assert process is not None
        process.send_signal(signal.SIGKILL)
        await asyncio.to_thread(process.wait)


@asynccontextmanager
async def own_server(name: str, folder: Path) -> AsyncIterator[Server]:
    service = next(service for service in SERVICES if service.daemon.name == name)
    daemon = Daemon(name, folder)
    server = Server(service._replace(daemon=daemon), Ports(**{port: free_port() for port in service.ports}))
    try:
        await server.start()
        yield server
    finally:
        await asyncio.to_thread(stop, [daemon])


class PatientStore(WrappedStore):
    """Asks again while the store is away, as the writer does."""

    def __init__(self, store: CounterStore) -> None:
        super().__init__(store)
        self.waited = 0

    async def load(self, keys: Sequence[RowKey]) -> Mapping[RowKey, Count]:
        return await self._until_there(partial(self._store.load, keys))

    async def save(self, rows: Sequence[Row]) -> None:
        await self._until_there(partial(self._store.save, rows))

    async def sums(self, ranges: Sequence[SlotRange]) -> Sequence[int]:
        return await self._until_there(partial(self._store.sums, ranges))

    async def _until_there(self, ask: Callable[[], Awaitable[_Answer]]) -> _Answer:
        while True:
            try:
                return await ask()
            except Unavailable:
                self.waited += 1
                await asyncio.sleep(_AGAIN_S)
