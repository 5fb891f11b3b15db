"""Which messages go to the retry queue when what they need is away: every one that was not set aside."""

import random
from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import pytest

from abacus.core.clock import FixedClock
from abacus.core.errors import Unavailable
from abacus.earning.issuing import Decided, Issuing
from abacus.earning.message import Message
from abacus.earning.retry import RetryPolicy
from abacus.health import WorkerHealth
from abacus.ledger.batch import Claim
from abacus.rates.cache import CardReader
from abacus.rates.card import PublishedCard
from tests.adapters.memory_quarantine import MemoryQuarantine
from tests.adapters.memory_queue import MemoryQueue
from tests.adapters.memory_tiers import MemoryTiers
from tests.earning.cards import BOOK, LUNCH, REFUND, message

CLOCK = FixedClock(datetime(2026, 2, 1, tzinfo=UTC))
ASKED = "api:acme:k-1 by SG@7"  # a partner's key, and its card: the same whatever the partner asks for under it
GOOD, REFUNDED, BAD = message(LUNCH), message(REFUND), b"{"


class Away:
    """Postings while the database is down."""

    async def claims_of(self, keys: Collection[str]) -> Mapping[str, Claim]:
        raise Unavailable("database", "away")


async def decided(*messages: Message) -> Decided:
    cards = [published for scope in BOOK.countries() for published in BOOK.versions(scope)]

    async def load() -> list[PublishedCard]:
        return cards

    reader = CardReader(load)
    await reader.refresh()
    return await Issuing(
        cards=reader,
        tiers=MemoryTiers({}),
        postings=Away(),
        award_queue=MemoryQueue("award"),
        retry_queue=MemoryQueue("retry"),
        quarantine=MemoryQuarantine(CLOCK),
        retry_policy=RetryPolicy(),
        clock=CLOCK,
        rng=random.Random(1),
        health=WorkerHealth("retrier"),
    ).decide(messages)


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
    """All from one origin: what is set aside of it says nothing of the rest."""
    came_to = await decided(*(Message(body, ASKED) for body in bodies))
    assert [each.body for each in came_to.deferred] == deferred
    assert [each.body for each in came_to.set_aside] == set_aside
