"""A real stream that is processed and then reconciled, for the tests that do it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import asyncpg
from aiokafka import AIOKafkaProducer

from abacus.core.clock import SystemClock
from abacus.ledger.relay.cursor import RelayCursor
from abacus.oversight.reconcile.decide.account import Account
from abacus.oversight.reconcile.window import Reconciliation, Streams, count_queues
from abacus.platform.kafka.groups import committed
from abacus.platform.sqs.queue import sqs_client
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from tests.support.fixed_clock import FixedClock
from tests.support.house import House, completed, until
from tests.support.shop import award, register, shop

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


async def account(
    house: House, start: datetime = LONG_AGO, end: datetime | None = None, *, later: timedelta = timedelta(minutes=10)
) -> Account:
    """The account as it is seen `later` from now, when a message that has no trace yet will get none any more."""
    now = SystemClock().now()
    settings = house.settings
    streams = Streams(
        settings.required("kafka_bootstrap"),
        settings.transactions_topic,
        settings.points_topic,
        f"{settings.queue_prefix}calculator",
    )
    async with sqs_client(settings.sqs_endpoint_url) as client:
        return await Reconciliation(
            house.pool,
            streams,
            partial(count_queues, client, settings.queue_prefix),
            CardBook(await CardStore(house.pool).all()),
            FixedClock(now + later),
            retried_for=timedelta(hours=24),
            look_back=timedelta(hours=24),
        ).account(start, end or now + later)


MESSAGES: list[dict[str, Any] | bytes] = [
    completed(1),
    completed(2),
    completed(2, amount="10.0"),  # written otherwise, and the same
    completed(2),
    completed(3, source="meals"),
    completed(4, type="nobody.lists.this"),
    completed(5, type="booking.cancelled_by_driver"),
    completed(6, vertical="yachts"),
    completed(7, country="XX"),
    b"{not json",
    b"{not json",
]


@asynccontextmanager
async def processed(house: House) -> AsyncIterator[None]:
    """The messages have come to their ends: four transfers, one of them a partner's, and five items set aside."""
    async with shop(house, "calculator", "retrier", "awarder", "relay") as opened:
        acme = await opened.caller(await register(house))
        await house.produce(MESSAGES)
        await award(acme, "a-1")
        await until(lambda: done(house, transfers=5, held=4))
        await house.produce([completed(1, amount="99.00")])
        await until(lambda: done(house, transfers=5, held=5))
        await until(lambda: published(house))
    yield


async def done(house: House, *, transfers: int, held: int) -> bool:
    counts = await house.pool.fetchrow("select (select count(*) from transfer), (select count(*) from quarantine)")
    return tuple(counts) == (transfers, held)


async def published(house: House) -> bool:
    return await RelayCursor(house.pool, house.settings.points_topic, SystemClock()).waiting() == 0


async def as_owner(database_url: str, *statements: str) -> None:
    """Run statements as somebody who can switch triggers off."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("set session_replication_role = replica")
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


SECOND_TRANSFER = (
    "insert into transfer select member_id, program, seq + 100, kind, points, balance_after, key, country, occurred_at,"
    " posted_at, expires_on, explanation, reverses, actor, pg_current_xact_id(), hash"
    " from transfer where key = 'txn:rides:T-1'"
)


async def is_read(house: House, messages: int = 1) -> bool:
    settings = house.settings
    offsets = await committed(
        settings.required("kafka_bootstrap"), settings.transactions_topic, f"{settings.queue_prefix}calculator"
    )
    return sum(offsets.values()) == messages


async def send_stamped(house: House, messages: Sequence[tuple[datetime, dict[str, Any]]]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=house.settings.required("kafka_bootstrap")) as producer:
        for stamped_at, message in messages:
            await producer.send_and_wait(
                house.settings.transactions_topic,
                json.dumps(message).encode(),
                key=message["member_id"].encode(),
                timestamp_ms=int(stamped_at.timestamp() * 1000),
            )
