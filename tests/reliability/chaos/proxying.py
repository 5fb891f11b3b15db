"""The proxies between a crew and its services."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

from abacus.platform.settings import Settings
from tests.reliability.chaos.proxies.postgres import PostgresProxy
from tests.reliability.chaos.proxies.sqs import SqsFaults, SqsProxy


class Proxies(NamedTuple):
    """A proxy in front of SQS and one in front of Postgres."""

    sqs: SqsProxy
    postgres: PostgresProxy

    def led_through(self, settings: Settings) -> Settings:
        parts = urlsplit(settings.required("database_url"))
        database = parts._replace(netloc=f"{parts.username}@{self.postgres.address}").geturl()
        return settings.model_copy(update={"database_url": database, "sqs_endpoint_url": self.sqs.url})

    @property
    def struck(self) -> Counter[str]:
        return self.sqs.struck + self.postgres.struck


@asynccontextmanager
async def opened_proxies(settings: Settings, seed: int, *, late_after_s: float) -> AsyncIterator[Proxies]:
    """Without a fault, at first."""
    parts = urlsplit(settings.required("database_url"))
    async with (
        SqsProxy(settings.sqs_endpoint_url or "", SqsFaults(), seed, late_after_s=late_after_s) as sqs,
        PostgresProxy(parts.hostname or "", parts.port or 0, seed) as postgres,
    ):
        yield Proxies(sqs, postgres)
