"""A transaction of a time to come is set aside: it would keep its account alive until then."""

import random
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from abacus.core.errors import Reason
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.intake.earning.decider import DecidedBatch
from abacus.intake.earning.issuer import PointsIssuer
from abacus.ledger.types.port import Claim
from abacus.platform.health import WorkerHealth
from abacus.platform.slices import SliceMap
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.store.cards import CardReader
from tests.support.cards import BOOK, CANCELLED, LUNCH, REFUND, message
from tests.support.fixed_clock import FixedClock
from tests.support.memory_quarantine import MemoryQuarantine
from tests.support.memory_queue import MemoryQueue
from tests.support.memory_tiers import MemoryTiers

NOW = datetime(2026, 2, 1, 12, tzinfo=UTC)
STREAM, PARTNER = "kafka:t/0/1", "api:acme:k-1 by SG@7"


class NothingPosted:
    """Postings of an empty ledger."""

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]:
        return {}


async def decided(body: bytes, origin: str, now: datetime = NOW) -> DecidedBatch:
    clock = FixedClock(now)

    async def load(_: Mapping[str, PublishedCard]) -> list[PublishedCard]:
        return [published for scope in BOOK.countries() for published in BOOK.versions(scope)]

    reader = CardReader(load)
    await reader.refresh()
    issuing = PointsIssuer(
        cards=reader,
        tiers=MemoryTiers({}),
        postings=NothingPosted(),
        award_queue=MemoryQueue("award"),
        retry_queue=MemoryQueue("retry"),
        quarantine=MemoryQuarantine(clock),
        retry_policy=RetryPolicy(),
        slice_map=SliceMap(1),
        clock=clock,
        rng=random.Random(1),
        health=WorkerHealth("calculator"),
    )
    return await issuing.decide([SourceMessage(body, origin)])


@pytest.mark.parametrize("facts", [LUNCH, CANCELLED, REFUND], ids=["completed", "event", "refund"])
@pytest.mark.parametrize("origin", [STREAM, PARTNER])
@pytest.mark.parametrize(
    ("ahead", "set_aside"),
    [
        (timedelta(0), []),
        (timedelta(minutes=5), []),
        (timedelta(minutes=5, microseconds=1), [Reason.IN_THE_FUTURE]),
        (timedelta(days=365 * 70), [Reason.IN_THE_FUTURE]),
    ],
    ids=["now", "as far as clocks differ", "further", "a lifetime"],
)
async def test_how_far_ahead_a_transaction_may_be(
    facts: dict[str, str], origin: str, ahead: timedelta, set_aside: list[Reason]
) -> None:
    came_to = await decided(message(facts | {"occurred_at": (NOW + ahead).isoformat()}), origin)
    assert [each.reason for each in came_to.set_aside] == set_aside
    assert bool(came_to.awards or came_to.deferred) is not bool(set_aside)


async def test_replayed_when_its_time_has_come_it_is_awarded() -> None:
    later = NOW + timedelta(days=40)
    body = message(LUNCH | {"occurred_at": later.isoformat()})
    assert [each.reason for each in (await decided(body, STREAM)).set_aside] == [Reason.IN_THE_FUTURE]
    assert [each.key for each in (await decided(body, STREAM, later)).awards] == ["txn:rides:T-1001"]


async def test_a_partner_finds_its_own_by_the_key() -> None:
    came_to = await decided(message(LUNCH | {"occurred_at": "2099-01-01T00:00:00Z"}), PARTNER)
    assert [each.key for each in came_to.set_aside] == ["api:acme:k-1"]
