"""All services that Abacus needs, on one laptop: Kafka as librdkafka's mock cluster, SQS as moto's server, Postgres."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from abacus.platform.embedded.child import Child
from abacus.platform.embedded.extra import demand
from abacus.platform.embedded.lock import DirectoryLock
from abacus.platform.embedded.postgres import EmbeddedPostgres


class EmbeddedSqs:
    """An SQS endpoint whose queues live in memory and end with it.

    Any credentials will do, but they must be given, as for AWS. A queue belongs to the region of the client that made
    it: clients that are to meet need the same region.
    """

    def __init__(self, log: Path) -> None:
        self._child = Child("SQS", "abacus.platform.embedded.sqs_server", (), log)
        self.endpoint_url: str | None = None

    async def start(self) -> str:
        """Start serving and come back with the endpoint's URL."""
        demand("SQS", "moto", "flask", "flask_cors")
        self.endpoint_url = await self._child.start()
        return self.endpoint_url

    async def stop(self) -> None:
        """Stop serving; the messages are gone."""
        self.endpoint_url = None
        await self._child.stop()


class EmbeddedKafka:
    """One broker that keeps records in memory, and not for long.

    A partition keeps its newest 5 MiB, as sent: when a producer is further ahead of a consumer than that, the oldest
    records vanish without an error. A topic that a client creates by using it gets 4 partitions, so 20 MiB. Name a
    topic in `topics` with more partitions to give it more room, compress, and let a fast producer wait for the
    consumers. A fetch that finds nothing is answered when its longest wait is over, whatever arrives meanwhile.

    There is no CreateTopics. A group takes about its session timeout to notice a change of members; members that
    share an event loop may be refused, because the leader is heard before the others.
    """

    def __init__(self, log: Path, topics: Mapping[str, int] | None = None) -> None:
        arguments = [f"{topic}:{partitions}" for topic, partitions in (topics or {}).items()]
        self._child = Child("Kafka", "abacus.platform.embedded.kafka_broker", arguments, log)
        self.bootstrap: str | None = None

    async def start(self) -> str:
        """Start serving and come back with the broker's host:port."""
        demand("Kafka", "confluent_kafka")
        self.bootstrap = await self._child.start()
        return self.bootstrap

    async def stop(self) -> None:
        """Stop serving; the records are gone."""
        self.bootstrap = None
        await self._child.stop()


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
