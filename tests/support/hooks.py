"""For the tests of webhooks: partners with a webhook, awards of theirs, and a sender at work."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime

from abacus.core.backoff import Backoff
from abacus.core.clock import SystemClock
from abacus.core.sources import STREAM, source_of_key
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.outbox import WebhookOutbox
from abacus.intake.partners.webhooks.sender import CONCURRENCY, webhook_sender
from abacus.intake.partners.webhooks.sources import Postings, rejections
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.point_event import encode_event
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.delivery.post import WITHIN_S, Poster
from abacus.platform.delivery.types import Concurrency
from abacus.platform.encryption import Secrets
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.postgres import Pool
from abacus.platform.slices import slices_of
from tests.support.house import until
from tests.support.logged import limits_logged
from tests.support.neighbours import neighbours_are_through
from tests.support.receiver import Receiver
from tests.support.stepping import one_step

CLOCK = SystemClock()
AT_ONCE_AGAIN = Backoff(first_s=0.02, longest_s=0.05)


async def partner(pool: Pool, name: str, url: str, limits: Limits = Limits()) -> str:  # noqa: B008  # a frozen value
    """Register a partner with a webhook; the secret."""
    made = Partner(name, name, True, True, (), None, 1000, None, CLOCK.now(), "tests", None)  # noqa: FBT003  # as stored
    await PartnerStore(pool, CLOCK).create(made, limits, LIVE_KEY.new(), also=limits_logged(made.partner_id))
    secret = new_secret()
    assert await WebhookStore(pool, CLOCK).set(name, url, secret)
    return secret


def award(key: str, points: int = 5, member: str = "bob") -> Award:
    activity = False
    return Award(
        key,
        member,
        "GRP",
        "SG",
        TransferKind.EARN,
        points,
        datetime(2026, 5, 1, tzinfo=UTC),
        date(2026, 11, 30),
        activity,
        "ab" * 16,
        b'{"granted_by":"acme","points":5}',
        source_of_key(key) or STREAM,
    )


async def post(pool: Pool, *awards: Award) -> None:
    await PostgresLedger(pool, CLOCK).post(awards)


async def events(pool: Pool, member: str = "bob") -> list[Record]:
    """The events of the points stream about the member."""
    transfers = await LedgerReader(pool).history(member, {"GRP": 10**9}, 1000)
    return [Record(encode_event(transfer), "points", 0, offset) for offset, transfer in enumerate(transfers)]


async def enter(pool: Pool, records: Sequence[Record]) -> None:
    assert not await Postings(pool, WebhookOutbox(pool, CLOCK), WorkerHealth("webhooks")).handle(records)


async def post_and_enter(pool: Pool, *awards: Award) -> None:
    await post(pool, *awards)
    await enter(pool, await events(pool))


async def enter_rejections(pool: Pool) -> int:
    await neighbours_are_through(pool)
    health = WorkerHealth("webhooks")
    readers = [rejections(pool, CLOCK, health, schema=each.schema) for each in await slices_of(pool)]
    return sum([await one_step(pool, each) for each in readers])


@asynccontextmanager
async def sending(
    pool: Pool,
    *,
    to_private: bool = True,
    within_s: float = WITHIN_S,
    backoff: Backoff = AT_ONCE_AGAIN,
    concurrency: Concurrency = CONCURRENCY,
    secrets: Secrets = Secrets(),  # noqa: B008  # without a key it has no state
) -> AsyncIterator["asyncio.Task[None]"]:
    stop = asyncio.Event()
    poster = Poster(to_private=to_private, at_once=concurrency.at_once, within_s=within_s)
    outbox, health = WebhookOutbox(pool, CLOCK), WorkerHealth("webhooks")
    sender = webhook_sender(
        outbox, poster, CLOCK, health, rng=random.Random(1), backoff=backoff, concurrency=concurrency, secrets=secrets
    )
    running = asyncio.create_task(sender.run(stop))
    try:
        yield running
    finally:
        stop.set()
        await asyncio.gather(running, return_exceptions=True)
        await poster.close()


async def settled(pool: Pool, column: str, count: int) -> None:
    async def reached() -> bool:
        return bool(
            await pool.fetchval(f"select count(*) >= $1 from webhook_delivery where {column} is not null", count)
        )

    await until(reached)


async def seen(receiver: Receiver, count: int) -> bool:
    return len(receiver.requests) >= count
