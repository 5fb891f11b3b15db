"""A card that was published a moment ago: nothing is set aside before the cards were read once more."""

import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from abacus.core.errors import Unavailable
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.intake.earning.decider import DecidedBatch
from abacus.intake.earning.issuer import PointsIssuer
from abacus.ledger.types.port import Claim
from abacus.platform.fresh_copy import Cadence
from abacus.platform.health import WorkerHealth
from abacus.platform.slices import SliceMap
from abacus.pricing.decide.card import CardState, PublishedCard
from abacus.pricing.store.cards import CardReader
from tests.support.cards import LUNCH, SINGAPORE, message, times
from tests.support.fixed_clock import FixedClock
from tests.support.memory_quarantine import MemoryQuarantine
from tests.support.memory_queue import MemoryQueue
from tests.support.memory_tiers import MemoryTiers

CLOCK: Final = FixedClock(datetime(2026, 2, 1, tzinfo=UTC))
FIRST: Final = PublishedCard(SINGAPORE, 1)
LAOS: Final = PublishedCard(replace(SINGAPORE, scope="LA"), 1)
EARLIER: Final = PublishedCard(replace(SINGAPORE, effective_from=datetime(2025, 1, 1, tzinfo=UTC)), 2)
DRINKS: Final = PublishedCard(replace(SINGAPORE, verticals={"drinks": times("2")}), 2)
CARDS: Final = PublishedCard(replace(SINGAPORE, payment_types={"card": times("2")}), 2)
DOLLARS: Final = PublishedCard(replace(SINGAPORE, currency="USD"), 2)
GOLD: Final = PublishedCard(replace(SINGAPORE, tiers={"member": times("1"), "gold": times("2")}), 2)


class Shelf:
    """Published cards, which can be away."""

    def __init__(self) -> None:
        self.cards = [FIRST]
        self.is_away = False
        self.reads = 0

    async def load(self, _known: Mapping[str, PublishedCard]) -> list[PublishedCard]:
        self.reads += 1
        if self.is_away:
            raise Unavailable("database", "connection refused")
        return list(self.cards)


class NoPostings:
    """Nothing is posted yet."""

    async def claims_in_reach(self, _keys: Collection[str]) -> Mapping[str, Claim]:
        return {}


class Line:
    """The calculation, by cards that were read when there was but one."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.reader = CardReader(self.shelf.load, Cadence(look_again_every_s=0.001))

    async def decide(
        self, *facts: dict[str, Any], origin: str = "kafka:t/0/1", clock: FixedClock = CLOCK
    ) -> DecidedBatch:
        issuing = PointsIssuer(
            cards=self.reader,
            tiers=MemoryTiers({("goldie", "GRP"): "gold"}),
            postings=NoPostings(),
            award_queue=MemoryQueue("award"),
            retry_queue=MemoryQueue("retry"),
            quarantine=MemoryQuarantine(clock),
            retry_policy=RetryPolicy(),
            slice_map=SliceMap(1),
            clock=clock,
            rng=random.Random(1),
            health=WorkerHealth("calculator"),
        )
        return await issuing.decide([SourceMessage(message(LUNCH | each), origin) for each in facts])


@pytest.fixture
async def line() -> Line:
    line = Line()
    await line.reader.refresh()
    return line


@pytest.mark.parametrize(
    ("published", "facts", "reason"),
    [
        (LAOS, {"country": "LA"}, "unknown-country"),
        (EARLIER, {"occurred_at": "2025-06-01T00:00:00Z"}, "no-card-in-force"),
        (DRINKS, {"vertical": "drinks"}, "unknown-vertical"),
        (CARDS, {"payment_type": "card"}, "unknown-payment-type"),
        (DOLLARS, {"currency": "USD"}, "unknown-currency"),
        (GOLD, {"member_id": "goldie"}, "unknown-tier"),
    ],
)
async def test_what_a_new_card_has_is_awarded_at_once(
    line: Line, published: PublishedCard, facts: dict[str, Any], reason: str
) -> None:
    before = await line.decide(facts)
    assert [item.reason for item in before.set_aside] == [reason]
    line.shelf.cards.append(published)
    line.shelf.reads = 0
    after = await line.decide(facts)
    assert (len(after.awards), after.set_aside, line.shelf.reads) == (1, [], 1)
    assert f'"card":"{published.name}"' in after.awards[0].explanation.decode()


async def test_a_version_that_a_partner_was_answered_by(line: Line) -> None:
    """The API knows it; the retrier, which calculates later, has not read it yet."""
    line.shelf.cards.append(DRINKS)
    decided = await line.decide({"vertical": "drinks"}, origin="api:acme:k-1 by SG@2")
    assert [award.key for award in decided.awards] == ["api:acme:k-1"]


async def test_an_unknown_country_waits_while_the_cards_cannot_be_read(line: Line) -> None:
    line.shelf.is_away = True
    decided = await line.decide({"country": "LA"})
    assert (decided.set_aside, len(decided.deferred)) == ([], 1)
    assert decided.down is not None
    assert decided.deferred[0].dependency == "rate cards"
    known = await line.decide({})
    assert len(known.awards) == 1, "a country that is known needs no reading"


async def test_neighbours_are_decided_once_more_with_it(line: Line) -> None:
    """One lunch by an unknown country, one by a known, one that cannot be read: nothing is lost or doubled."""
    line.shelf.cards.append(LAOS)
    decided = await line.decide({}, {"country": "LA"}, {"amount": "x"})
    assert (len(decided.awards), len(decided.set_aside), len(decided.deferred)) == (2, 1, 0)


async def test_a_country_that_nobody_published_is_looked_up_once_a_batch(line: Line) -> None:
    line.shelf.reads = 0
    decided = await line.decide(*({"country": "XX", "transaction_id": f"T-{n}"} for n in range(50)))
    assert (len(decided.set_aside), line.shelf.reads) == (50, 1)


async def test_a_card_that_may_have_been_withdrawn_awards_nothing(line: Line) -> None:
    """The cards were last read when March's could still be withdrawn, and cannot be read since."""
    march = replace(SINGAPORE, effective_from=datetime(2026, 3, 1, tzinfo=UTC))
    line.shelf.cards.append(PublishedCard(march, 2, CardState.OPEN))
    await line.reader.refresh()
    in_march, clock = {"occurred_at": "2026-03-01T00:00:00Z", "transaction_id": "T-2"}, FixedClock(march.effective_from)
    line.shelf.is_away = True
    decided = await line.decide({}, in_march, clock=clock)
    assert [award.key for award in decided.awards] == ["txn:rides:T-1001"]
    assert [each.dependency for each in decided.deferred] == ["rate cards"]
    assert decided.down is None
    line.shelf.is_away = False
    for state, name in ((CardState.FINAL, "SG@2"), (CardState.WITHDRAWN, "SG@1")):
        line.shelf.cards[1] = PublishedCard(march, 2, state)
        await line.reader.refresh()
        (award,) = (await line.decide(in_march, clock=clock)).awards
        assert f'"card":"{name}"' in award.explanation.decode()
