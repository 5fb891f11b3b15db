"""A member's life, read part by part: what is away is told as away."""

import dataclasses
from datetime import UTC, datetime

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.oversight.life.member_life import Away, Transfers
from abacus.oversight.life.reader import Asked, LifeReader
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool, open_pool
from abacus.pricing.decide.book import CardBook
from tests.support.forgetting import granted
from tests.support.hooks import post


def no_cards() -> CardBook:
    raise Unavailable("rate cards", "none is published")


async def test_a_life_has_points_with_their_reasons(pool: Pool) -> None:
    await post(pool, granted("txn:rides:1", member_id="bob"), granted("txn:rides:2", member_id="bob"))
    life = await LifeReader(pool, lambda: CardBook(()), SystemClock()).of(Asked("bob"), Approvals(pool, SystemClock()))
    assert not any(isinstance(value, Away) for value in vars(life).values())
    assert isinstance(life.points, list)
    assert [(each.key, each.remaining, bool(each.why)) for each in life.points] == [
        ("txn:rides:1", 10, True),
        ("txn:rides:2", 10, True),
    ]
    nobody = await LifeReader(pool, no_cards, SystemClock()).of(Asked("eve"), Approvals(pool, SystemClock()))
    assert (nobody.accounts, nobody.transfers) == ([], Transfers((), None))


async def test_countries_that_are_not_open_hide_everything(pool: Pool) -> None:
    await post(pool, granted("txn:rides:1", member_id="bob"))
    approvals, reader = Approvals(pool, SystemClock()), LifeReader(pool, no_cards, SystemClock())
    elsewhere = await reader.of(Asked("bob", ("ID",)), approvals)
    nobody = await reader.of(Asked("nobody", ("ID",)), approvals)
    assert dataclasses.replace(elsewhere, member_id="nobody") == nobody


async def test_a_part_that_is_away_is_told_and_the_others_are_there(pool: Pool, database_url: str) -> None:
    await post(pool, granted("txn:rides:1", member_id="bob"))
    closed = await open_pool(database_url, size=1)
    await closed.close()
    away = await LifeReader(pool, no_cards, SystemClock()).of(Asked("bob"), Approvals(closed, SystemClock()))
    assert isinstance(away.approvals, Away)
    assert isinstance(away.transfers, Transfers)
    (row,) = away.transfers.rows
    assert (row.key, row.unknown, row.posted_at < datetime.now(UTC)) == (
        "txn:rides:1",
        "The rate cards cannot be read now.",
        True,
    )
    nothing = await LifeReader(closed, no_cards, SystemClock()).of(Asked("bob"), Approvals(pool, SystemClock()))
    assert all(isinstance(value, Away) for name, value in vars(nothing).items() if name != "member_id")
