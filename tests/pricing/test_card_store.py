"""Publishing on a real Postgres."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import asyncpg
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, Unavailable
from abacus.core.points import Multiplier
from abacus.documents.types import Withdrawal
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import CardState, PublishedCard, RateCard
from abacus.pricing.decide.timeline import published_card
from abacus.pricing.store.cards import CardStore

CARDS = {card.scope: card for card in example_cards()}
NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


def with_eppf(scope: str, eppf: str) -> RateCard:
    return replace(CARDS[scope], eppf=Multiplier(Decimal(eppf)))


async def test_versions_count_from_one_in_each_scope(pool: Pool) -> None:
    store = CardStore(pool)
    drafts = [CARDS["SG"], CARDS["ID"], with_eppf("SG", "2"), replace(CARDS["SG"], scope="partner:acme")]
    published = [await store.publish(card, by="ann", now=NOW) for card in drafts]
    assert [each.name for each in published] == ["SG@1", "ID@1", "SG@2", "partner:acme@1"]
    assert [each.card for each in published] == drafts
    assert await store.all() == sorted(published, key=lambda each: each.name)
    assert [published_card(each) for each in await store.history("SG")] == [published[0], published[2]]


async def test_what_is_not_there(pool: Pool) -> None:
    store = CardStore(pool)
    assert await store.all() == []
    assert await store.history("SG") == []


async def test_every_example_card_comes_back_equal_and_in_its_digits(pool: Pool) -> None:
    store = CardStore(pool)
    for card in CARDS.values():
        await store.publish(card, by="ann", now=NOW)
    read = {each.card.scope: each.card for each in await store.all()}
    assert read == CARDS
    assert str(read["ID"].eppf) == "0.00005"


async def test_a_card_that_changes_nothing_is_refused(pool: Pool) -> None:
    store = CardStore(pool)
    await store.publish(with_eppf("SG", "1"), by="ann", now=NOW)
    with pytest.raises(Refused, match="SG@1 is this card already: nothing to publish"):
        await store.publish(with_eppf("SG", "1.0"), by="bob", now=NOW)
    await store.publish(with_eppf("SG", "2"), by="ann", now=NOW)
    back = await store.publish(with_eppf("SG", "1"), by="ann", now=NOW)
    assert back.name == "SG@3"


async def test_concurrent_publishers_take_turns(pool: Pool) -> None:
    store = CardStore(pool)
    drafts = [with_eppf("SG", f"1.{number}") for number in range(1, 9)]
    published = await asyncio.gather(*(store.publish(card, by="ann", now=NOW) for card in drafts))
    assert sorted(each.version for each in published) == list(range(1, 9))
    assert await store.all() == sorted(published, key=lambda each: each.version)


async def test_of_equal_cards_published_at_once_one_is_taken(pool: Pool) -> None:
    store = CardStore(pool)
    outcomes = await asyncio.gather(
        *(store.publish(CARDS["SG"], by="ann", now=NOW) for _ in range(4)), return_exceptions=True
    )
    assert sum(isinstance(outcome, PublishedCard) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == 3


async def test_the_row_says_who_and_when(pool: Pool) -> None:
    await CardStore(pool).publish(CARDS["SG"], by="ann", now=NOW)
    row = await pool.fetchrow("select effective_from, published_at, published_by from rate_card")
    assert tuple(row) == (CARDS["SG"].effective_from, NOW, "ann")


async def test_a_published_card_is_never_changed(pool: Pool) -> None:
    await CardStore(pool).publish(CARDS["SG"], by="ann", now=NOW)
    for statement in ("update rate_card set version = 2", "delete from rate_card"):
        with pytest.raises(asyncpg.PostgresError):
            await pool.execute(statement)


async def test_a_card_of_a_newer_version_of_abacus_has_to_wait(pool: Pool) -> None:
    store = CardStore(pool)
    await store.publish(CARDS["SG"], by="ann", now=NOW)
    await pool.execute(
        """
        insert into rate_card (scope, version, effective_from, document, published_at, published_by)
        select scope, 2, effective_from, document || '{"lottery": "1"}', published_at, published_by from rate_card
        """
    )
    with pytest.raises(Unavailable, match="this version of Abacus cannot read SG@2: lottery: unknown"):
        await store.all()


async def test_a_database_that_is_away_is_unavailable() -> None:
    async with asyncpg.create_pool("postgresql://nobody@127.0.0.1:1/none", min_size=0, timeout=2) as away:
        store = CardStore(away)
        publish = store.publish(CARDS["SG"], by="ann", now=NOW)
        withdraw = store.withdraw("SG", 1, by="ann", reason="a mistake", now=NOW)
        for attempt in (store.all(), store.history("SG"), publish, withdraw):
            with pytest.raises(Unavailable, match="database unavailable"):
                await attempt


async def scheduled(store: CardStore, starts_in: timedelta) -> PublishedCard:
    card = replace(CARDS["SG"], effective_from=SystemClock().now() + starts_in)
    return await store.publish(card, by="ann", now=NOW)


@pytest.mark.parametrize(
    ("starts_in", "state"),
    [
        (timedelta(days=-1), CardState.FINAL),
        (timedelta(minutes=8), CardState.FINAL),
        (timedelta(minutes=11), CardState.OPEN),
    ],
)
async def test_a_card_is_final_shortly_before_it_begins(pool: Pool, starts_in: timedelta, state: CardState) -> None:
    store = CardStore(pool)
    published = await scheduled(store, starts_in)
    assert (published.state, [each.state for each in await store.all()]) == (state, [state])


async def test_a_withdrawn_card_is_kept_with_who_and_why(pool: Pool) -> None:
    store = CardStore(pool)
    await store.publish(CARDS["SG"], by="ann", now=NOW, approved_by="eve")
    await scheduled(store, timedelta(days=1))
    record = await store.withdraw("SG", 2, by="ben", reason="not agreed", now=NOW)
    assert record.version.withdrawal == Withdrawal(NOW, "ben", "not agreed")
    first, second = await store.history("SG")
    assert (first.version.own["approved_by"], first.version.withdrawal, second) == ("eve", None, record)
    known = {each.name: each for each in await store.all()}
    assert [each.state for each in await store.all(known)] == [CardState.FINAL, CardState.WITHDRAWN]
    with pytest.raises(Refused, match=r"SG@2 was withdrawn by ben at 2026-01-05T09:30:00.00:00 already"):
        await store.withdraw("SG", 2, by="eve", reason="again", now=NOW)
    for statement in ("update rate_card_withdrawal set version = 3", "delete from rate_card_withdrawal"):
        with pytest.raises(asyncpg.PostgresError):
            await pool.execute(statement)


@pytest.mark.parametrize("starts_in", [timedelta(days=-1), timedelta(minutes=9, seconds=50)])
async def test_a_card_that_processes_rely_on_is_not_withdrawn(pool: Pool, starts_in: timedelta) -> None:
    """A reader may see the card as final 9 minutes before it begins; a withdrawal takes no minute."""
    store = CardStore(pool)
    await scheduled(store, starts_in)
    with pytest.raises(Refused, match="SG@1 is in force, or will be within 10 minutes"):
        await store.withdraw("SG", 1, by="ben", reason="too late", now=NOW)
    assert [each.state for each in await store.all()] != [CardState.WITHDRAWN]


async def test_of_two_who_withdraw_one_does(pool: Pool) -> None:
    store = CardStore(pool)
    await scheduled(store, timedelta(days=1))
    outcomes = await asyncio.gather(
        *(store.withdraw("SG", 1, by=who, reason="r", now=NOW) for who in "abcd"), return_exceptions=True
    )
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == 3


async def test_the_same_card_may_come_again_after_its_withdrawal(pool: Pool) -> None:
    store = CardStore(pool)
    later = replace(CARDS["SG"], effective_from=SystemClock().now() + timedelta(days=1))
    await store.publish(later, by="ann", now=NOW)
    await store.withdraw("SG", 1, by="ben", reason="too early", now=NOW)
    assert (await store.publish(later, by="ann", now=NOW)).name == "SG@2"
    with pytest.raises(Refused, match="SG@2 is this card already"):
        await store.publish(later, by="ann", now=NOW)
