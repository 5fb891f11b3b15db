"""A house of its own for a test: topics, queues, a database, cards; and ways to run workers and to look inside."""

import asyncio
import json
import os
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from abacus.bootstrap import Wire
from abacus.cli.examples.stream import Sent
from abacus.core.clock import Clock
from abacus.platform.health import Health, WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.process import run_workers
from tests.support.births import Born, Nursery
from tests.support.ports import free_ports
from workers import PIPELINE, wires


@dataclass(frozen=True)
class House:
    """Everything one test needs, apart from every other test."""

    settings: Settings
    pool: Pool
    nursery: Nursery

    async def produce(self, messages: Iterable[Sent | dict[str, Any] | bytes]) -> None:
        publisher = StreamPublisher(self.settings.required("kafka_bootstrap"))
        sent = [_message(message) for message in messages]
        try:
            # As any producer does, send again when the broker has not answered; keys absorb messages that arrive twice.
            await until_available(
                lambda: publisher.publish(self.settings.transactions_topic, sent), WorkerHealth("producer")
            )
        finally:
            await publisher.close()

    @asynccontextmanager
    async def running(
        self,
        *names: str,
        settings: Settings | None = None,
        wired_so: Mapping[str, Wire] = MappingProxyType({}),
        clock: Clock | None = None,
    ) -> AsyncIterator[Health]:
        """Run these workers, or all, in this process; some wired in another way than usual."""
        wired = {**wires(names or PIPELINE), **wired_so}
        stop, health = asyncio.Event(), Health(wired)
        task = asyncio.create_task(
            run_workers(wired, settings or self.settings, health, stop, health_port=None, clock=clock)
        )
        try:
            yield health
        finally:
            stop.set()
            await task

    @asynccontextmanager
    async def process(self, *names: str) -> AsyncIterator[Born]:
        """Run these workers in a process of their own, killed at the end if it still lives."""
        child = await self.nursery.born(["worker", *names], self.environment(), log=Path(os.devnull))
        try:
            yield child
        finally:
            child.kill()
            await child.wait()

    def environment(self) -> dict[str, str]:
        given = {
            f"ABACUS_{name.upper()}": str(value)
            for name, value in self.settings.model_dump().items()
            if value is not None
        }
        return {**os.environ, **given}

    async def transfers(self) -> int:
        return int(await self.pool.fetchval("select count(*) from transfer"))

    async def reasons(self) -> dict[str, int]:
        rows = await self.pool.fetch("select reason, count(*) from quarantine where status = 'held' group by reason")
        return dict(map(tuple, rows))


def unique_settings(*, database_url: str, sqs_endpoint_url: str, kafka_bootstrap: str) -> Settings:
    """What listens has ports of its own, so that two runs of tests do not meet on the usual ports."""
    mark = uuid.uuid4().hex[:10]
    api_port, counts_port, offers_port, places_port, console_port = free_ports(5)
    return Settings(
        queue_prefix=f"t{mark}-",
        transactions_topic=f"transactions.{mark}",
        points_topic=f"points.{mark}",
        tiers_topic=f"tiers.{mark}",
        events_topic=f"events.{mark}",
        positions_topic=f"positions.{mark}",
        database_url=database_url,
        sqs_endpoint_url=sqs_endpoint_url,
        kafka_bootstrap=kafka_bootstrap,
        api_port=api_port,
        counts_port=counts_port,
        offers_port=offers_port,
        places_port=places_port,
        console_port=console_port,
    )


async def until(condition: Any, *, within_s: float = 90.0) -> None:
    """Wait until the awaitable condition holds; fail when it does not in time."""
    async with asyncio.timeout(within_s):
        while not await condition():  # noqa: ASYNC110  # the change happens in another process
            await asyncio.sleep(0.05)


def completed(number: int, **changes: Any) -> dict[str, Any]:
    """A plausible transaction, with some fields changed."""
    return {
        "type": "transaction.completed",
        "source": "rides",
        "transaction_id": f"T-{number}",
        "member_id": f"m{number % 7}",
        "country": "SG",
        "vertical": "rides",
        "payment_type": "wallet",
        "amount": "10.00",
        "currency": "SGD",
        "occurred_at": "2026-05-01T12:00:00+08:00",
        **changes,
    }


def _message(message: Sent | dict[str, Any] | bytes) -> StreamMessage:
    if isinstance(message, bytes):
        return StreamMessage(b"", message)
    if isinstance(message, Sent):
        return StreamMessage(message.key, message.value)
    return StreamMessage(str(message.get("member_id", "")).encode(), json.dumps(message).encode())
