"""Messages go to the retry queue when a service that they need is away: every one that was not set aside."""

import random
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from abacus.core.errors import Reason, Unavailable
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.decide.source_message import SourceMessage, decode_retries
from abacus.intake.earning.decide.transaction import Completed, read_transaction
from abacus.intake.earning.decider import DecidedBatch
from abacus.intake.earning.issuer import PointsIssuer
from abacus.ledger.types.port import Claim
from abacus.platform.health import WorkerHealth
from abacus.platform.slices import SliceMap
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.store.cards import CardReader
from tests.support.cards import BOOK, LUNCH, REFUND, message
from tests.support.fixed_clock import FixedClock
from tests.support.memory_quarantine import MemoryQuarantine
from tests.support.memory_queue import MemoryQueue
from tests.support.memory_tiers import MemoryTiers

CLOCK = FixedClock(datetime(2026, 2, 1, tzinfo=UTC))
PARTNER_ORIGIN = "api:acme:k-1 by SG@7"  # a key and a card: the same for every request of the partner under the key
GOOD, REFUNDED, BAD = message(LUNCH), message(REFUND), b"{"
ANOTHERS = message(LUNCH | {"member_id": "jane", "transaction_id": "T-2"})


class Delays(MemoryQueue):
    """Keeps how long each message is to wait."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.sent: list[tuple[float, str]] = []

    async def send(self, bodies: Sequence[str], *, delay_s: float = 0) -> None:
        self.sent += [(delay_s, body) for body in bodies]


class Away:
    """Postings while the database is down."""

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]:
        raise Unavailable("database", "away")


def issuing(reader: CardReader, retry_queue: MemoryQueue, tiers: MemoryTiers | None = None) -> PointsIssuer:
    return PointsIssuer(
        cards=reader,
        tiers=tiers or MemoryTiers({}),
        postings=Away(),
        award_queue=MemoryQueue("award"),
        retry_queue=retry_queue,
        quarantine=MemoryQuarantine(CLOCK),
        retry_policy=RetryPolicy(),
        slice_map=SliceMap(1),
        clock=CLOCK,
        rng=random.Random(1),
        health=WorkerHealth("retrier"),
    )


async def cards_read() -> CardReader:
    cards = [published for scope in BOOK.countries() for published in BOOK.versions(scope)]

    async def load(_known: Mapping[str, PublishedCard]) -> list[PublishedCard]:
        return cards

    reader = CardReader(load)
    await reader.refresh()
    return reader


async def decided(*messages: SourceMessage) -> DecidedBatch:
    return await issuing(await cards_read(), MemoryQueue("retry")).decide(messages)


@pytest.mark.parametrize(
    ("bodies", "deferred", "set_aside"),
    [
        ([REFUNDED], [REFUNDED], []),
        ([GOOD, REFUNDED], [GOOD, REFUNDED], []),
        ([BAD, REFUNDED], [REFUNDED], [BAD]),
    ],
    ids=["one", "its neighbours too", "but none that was set aside"],
)
async def test_what_is_deferred(bodies: list[bytes], deferred: list[bytes], set_aside: list[bytes]) -> None:
    """All messages come from one origin: one that is set aside says nothing about the others."""
    came_to = await decided(*(SourceMessage(body, PARTNER_ORIGIN) for body in bodies))
    assert [each.body for each in came_to.deferred] == deferred
    assert [each.body for each in came_to.set_aside] == set_aside


async def test_only_those_wait_whose_tier_cannot_be_read() -> None:
    """As while one of several servers is away: nobody is paid by a tier that is guessed, and nobody else waits."""
    completed = [read_transaction(body) for body in (GOOD, ANOTHERS)]
    away = MemoryTiers({}, away=[(completed[0].member_id, "GRP")])
    worked = issuing(await cards_read(), MemoryQueue("retry"), away)
    came_to = await worked.decide([SourceMessage(body, "kafka:t/0/1") for body in (GOOD, ANOTHERS)])
    assert [each.member_id for each in came_to.awards] == [completed[1].member_id]
    assert [(each.body, each.dependency) for each in came_to.deferred] == [(GOOD, "tiers")]
    assert came_to.down is None, "the line goes on"


async def test_a_partner_finds_what_was_given_up_by_its_key() -> None:
    long_ago = CLOCK.now() - timedelta(days=2)
    came_to = await decided(
        SourceMessage(GOOD, PARTNER_ORIGIN, 40, long_ago), SourceMessage(REFUNDED, "kafka:t/0/1", 40, long_ago)
    )
    assert [(each.reason, each.key) for each in came_to.set_aside] == [
        (Reason.RETRIES_EXHAUSTED, "api:acme:k-1"),
        (Reason.RETRIES_EXHAUSTED, None),
    ]
    completed = read_transaction(GOOD)
    assert isinstance(completed, Completed)
    assert came_to.set_aside[0].fingerprint == completed.fingerprint_for_partner


async def test_each_waits_as_long_as_it_has_failed() -> None:
    """A refund that has failed for hours does not make its neighbours wait for as long."""
    queue = Delays("retry")
    worked = issuing(await cards_read(), queue)
    came_to = await worked.decide(
        [SourceMessage(REFUNDED, "kafka:t/0/1", attempt, CLOCK.now() if attempt else None) for attempt in (30, 0, 30)]
    )
    await worked.hand_over(came_to)
    counts = [len(decode_retries(body)) for _, body in queue.sent]
    soon, late = (delay for delay, _ in queue.sent)
    assert counts == [1, 2]
    assert soon < 10
    assert late > soon
