"""All services that Abacus needs, on one laptop."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from abacus.platform.embedded.kafka import EmbeddedKafka
from abacus.platform.embedded.lock import DirectoryLock
from abacus.platform.embedded.postgres import EmbeddedPostgres
from abacus.platform.embedded.sqs import EmbeddedSqs


class Told(Protocol):
    """Hears that a part begins to start, and that it can be used."""

    def __call__(self, name: str, *, ready: bool) -> None: ...


class _Part(Protocol):
    async def start(self) -> Any: ...

    async def stop(self) -> None: ...


class EmbeddedStack:
    """Postgres, SQS and Kafka, or some of them, started together and stopped together.

    One stack at a time owns `data_dir`; a second one is refused. If a part does not start, the others are stopped and
    its error is raised. `kafka_topics` gives topics more partitions than the 4 that they have otherwise, and with them
    room: see `EmbeddedKafka`. `told` hears of each part's start.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        postgres: bool = True,
        sqs: bool = True,
        kafka: bool = True,
        durable: bool = True,
        kafka_topics: Mapping[str, int] | None = None,
        told: Told | None = None,
    ) -> None:
        self._told = told
        self._lock = DirectoryLock(data_dir)
        self._postgres = EmbeddedPostgres(data_dir / "postgres", durable=durable) if postgres else None
        self._sqs = EmbeddedSqs(data_dir / "sqs.log") if sqs else None
        self._kafka = EmbeddedKafka(data_dir / "kafka.log", kafka_topics) if kafka else None

    @property
    def database_url(self) -> str | None:
        """`postgresql://…` while it runs; None without Postgres."""
        return self._postgres.url if self._postgres else None

    @property
    def sqs_endpoint_url(self) -> str | None:
        """`http://…` while it runs; None without SQS."""
        return self._sqs.endpoint_url if self._sqs else None

    @property
    def kafka_bootstrap(self) -> str | None:
        """host:port while it runs; None without Kafka."""
        return self._kafka.bootstrap if self._kafka else None

    async def start(self) -> None:
        """Start all parts at once; when this returns, all of them can be used."""
        self._lock.take()
        try:
            async with asyncio.TaskGroup() as starting:
                for name, part in self._parts().items():
                    starting.create_task(self._start(name, part))
        except BaseExceptionGroup as failures:
            await self.stop()
            raise failures.exceptions[0] from None
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stops the parts, the last first; each is stopped even if another fails to."""
        async with AsyncExitStack() as stopping:
            stopping.callback(self._lock.release)
            for part in self._parts().values():
                stopping.push_async_callback(part.stop)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def _start(self, name: str, part: _Part) -> None:
        if self._told is not None:
            self._told(name, ready=False)
        await part.start()
        if self._told is not None:
            self._told(name, ready=True)

    def _parts(self) -> dict[str, _Part]:
        parts: dict[str, _Part | None] = {"Postgres": self._postgres, "SQS": self._sqs, "Kafka": self._kafka}
        return {name: part for name, part in parts.items() if part is not None}
