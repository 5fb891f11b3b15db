"""Whatever tells about a whole ledger reads slice after slice, never the views over all of them, and tells the same."""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import chain, combinations
from typing import Any, Final

import asyncpg
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.oversight.backtest.lapses import lapses, moved
from abacus.oversight.backtest.replay import backtest
from abacus.oversight.closing.checks import readiness
from abacus.oversight.reconcile.decide.account import Account, Finding
from abacus.oversight.reconcile.decide.report import document
from abacus.oversight.reports.accounts import ageing, balances
from abacus.oversight.reports.activity import activity
from abacus.oversight.reports.cohort_store import cohorts
from abacus.oversight.reports.decide.by import By
from abacus.oversight.reports.homes import Homes, homes
from abacus.oversight.reports.months import moved as months
from abacus.oversight.reports.movements import rollforward
from abacus.oversight.status.capabilities import overdue
from abacus.oversight.where.records import in_ledger
from abacus.platform.postgres import Connection, Pool, open_pool, snapshot
from abacus.platform.slices import slice_map_of, slice_of
from abacus.platform.slices.layout import CUT
from abacus.platform.sqs.queue import sqs_client
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from tests.oversight.month import write_month
from tests.oversight.reconcile.reconciling import account, as_owner, processed
from tests.support.births import Nursery
from tests.support.cards import INDONESIA, SINGAPORE, times
from tests.support.cluster import Servers
from tests.support.house import House, unique_settings
from tests.support.ledgers import make_ledger
from tests.support.logged import card_logged
from tests.support.queues import quick_queues
from tests.support.services import Services

pytestmark = pytest.mark.once

SLICES: Final = 8
NOW: Final = datetime(2026, 9, 10, tzinfo=UTC)
JULY: Final = Month(2026, 7)
BOOK: Final = CardBook([PublishedCard(SINGAPORE, 7), PublishedCard(INDONESIA, 1)])
DEARER: Final = replace(SINGAPORE, verticals={"food": times("3")}, tiers={"member": times("1"), "silver": times("2")})
BY_LOTS: Final = replace(SINGAPORE, expiry=Expiry.LIFETIME, expiry_months=2)
PARTS: Final = [frozenset(each) for each in chain.from_iterable(combinations(By, n) for n in range(len(By) + 1))]
_SEAL: Final = """
insert into seal (number, sealed_at, accounts, transfers, root, snapshot, previous, hash, format)
values ($1, $2, 0, 0, '', $3, '', '', 1)
"""
_STAMPS: Final = "select coalesce(max(xid::text::bigint), 0) from {}.transfer where posted_at < $1"


@asynccontextmanager
async def database(servers: Servers, slices: int) -> AsyncIterator[str]:
    """A migrated ledger of so many slices, which lie on several servers where there are."""
    name = f"abacus_oversight_{uuid.uuid4().hex[:8]}"
    yield await make_ledger(servers, name, slices=slices)
    await servers.drop(name)


async def drop_views(url: str) -> None:
    owner = await asyncpg.connect(url)
    await owner.execute(f"drop view {', '.join(f'public.{table}' for table in CUT)}")
    await owner.close()


async def seal(pool: Pool) -> None:
    """Two seals after July: the first misses a transfer of one slice, the second has all."""
    schemas = (await slice_map_of(pool)).schemas
    until = datetime(2026, 7, 31, 17, tzinfo=UTC)  # July ends in Jakarta
    stamps = [await pool.fetchval(_STAMPS.format(schema), until) for schema in schemas]
    for number, below in ((1, [*(stamp + 1 for stamp in stamps[:-1]), stamps[-1]]), (2, [each + 1 for each in stamps])):
        text = " ".join(f"{each}:{each}:" for each in below)
        await pool.execute(_SEAL, number, datetime(2026, 8, number, 12, tzinfo=UTC), text)


@pytest.fixture(scope="module")
async def ledgers(services: Services, servers: Servers) -> AsyncIterator[tuple[Pool, Pool]]:
    """The same month in a whole ledger and in one of slices, which has lost its views."""
    async with database(servers, 1) as whole, database(servers, SLICES) as sliced:
        pools = await open_pool(whole, size=3), await open_pool(sliced, size=3)
        for pool in pools:
            for card in (SINGAPORE, INDONESIA):
                await CardStore(pool).publish(card, by="tests", now=NOW, also=card_logged(card))
            await write_month(pool)
            await seal(pool)
        await drop_views(sliced)
        yield pools
        for pool in pools:
            await pool.close()


Reading = Callable[[Connection, Homes], Awaitable[object]]


async def _each_part(read: Callable[[frozenset[By]], Awaitable[object]]) -> list[object]:
    return [await read(parts) for parts in PARTS]


async def _moved(connection: Connection, _: Homes) -> list[object]:
    return [row async for page in moved(connection, BY_LOTS) for row in page]


async def _backtest(connection: Connection, _: Homes) -> tuple[object, ...]:
    report = await backtest(connection, DEARER, datetime(2026, 1, 1, tzinfo=UTC), NOW)
    return report.differences, report.unpriced, report.by_country()


async def _closing(connection: Connection, where: Homes) -> tuple[object, object]:
    stands = await readiness(connection, where, JULY, NOW)
    return stands.obstacles, stands.seal and stands.seal.number


OF_A_CONNECTION: Final[dict[str, Reading]] = {
    "homes": lambda connection, _: homes(connection, BOOK, NOW),
    "rollforward": lambda connection, where: _each_part(lambda by: rollforward(connection, where, JULY, by)),
    "cohorts": lambda connection, where: _each_part(lambda by: cohorts(connection, where, where.whenever(), by)),
    "balances": lambda connection, where: balances(connection, where, where.end(JULY.last_day)),
    "activity": lambda connection, where: activity(connection, where, where.end(JULY.last_day)),
    "months": lambda connection, where: months(connection, where, JULY),
    "ageing": lambda connection, _: ageing(connection),
    "backtest": _backtest,
    "lapses": lambda connection, _: lapses(connection, BY_LOTS),
    "members whose points would lapse otherwise": _moved,
    "closing": _closing,
}


@pytest.mark.parametrize("name", OF_A_CONNECTION)
async def test_reports_tell_the_same(ledgers: tuple[Pool, Pool], name: str) -> None:
    told: list[object] = []
    for pool in ledgers:
        async with snapshot(pool) as connection:
            told.append(await OF_A_CONNECTION[name](connection, await homes(connection, BOOK, NOW)))
    assert told[0]
    assert told[1] == told[0]


async def test_books_tie(ledgers: tuple[Pool, Pool]) -> None:
    async with snapshot(ledgers[1]) as connection:
        books = await rollforward(connection, await homes(connection, BOOK, NOW), JULY, frozenset())
    assert books.tied
    assert all(row.issued and row.spent and row.closing for row in books.movements)


async def test_the_second_seal_covers_the_month(ledgers: tuple[Pool, Pool]) -> None:
    for pool in ledgers:
        async with snapshot(pool) as connection:
            stands = await readiness(connection, await homes(connection, BOOK, NOW), JULY, NOW)
        assert stands.seal is not None
        assert stands.seal.number == 2


async def test_jobs_that_are_overdue(ledgers: tuple[Pool, Pool]) -> None:
    whole, sliced = [await overdue(pool, NOW) for pool in ledgers]
    assert {each.job for each in whole} == {"expiry run", "ledger seal"}
    assert sliced == whole


EVE: Final = "eve"
_BY_HAND: Final = """
insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    explanation, hash)
values ('{member}', 'GRP', {seq}, 'earn', 5, 5, '{key}', 'SG', now(), now(), '{{}}', '')
"""
POSTED_BY_HAND: Final = [
    _BY_HAND.format(member=EVE, seq=seq, key=key) for seq, key in ((1, "txn:rides:T-1"), (2, "import:old:eve:GRP"))
]
FOUND: Final = {
    (Finding.DOUBLED, "txn:rides:T-1"),
    (Finding.UNCLAIMED, "import:old:eve:GRP"),
}


@asynccontextmanager
async def house_at(services: Services, url: str, nursery: Nursery) -> AsyncIterator[House]:
    """A house with a ledger of its own."""
    settings = unique_settings(
        database_url=url, sqs_endpoint_url=services.sqs_endpoint_url, kafka_bootstrap=services.kafka_bootstrap
    )
    pool = await open_pool(url, size=8)
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now(), also=card_logged(card))
    async with sqs_client(settings.sqs_endpoint_url) as client:
        await quick_queues(client, settings.queue_prefix)
    yield House(settings, pool, nursery)
    await pool.close()


def told(report: Account) -> dict[str, Any]:
    """The account without its times, and the names of its topics."""
    without = {"from", "to", "as_of", "transactions_topic", "points_topic"}
    return {name: value for name, value in document(report, "tests").items() if name not in without}


@pytest.mark.long
async def test_reconcile_tells_the_same(services: Services, servers: Servers, nursery: Nursery) -> None:
    """Of a stream that comes out, and then with faults: a key posted in two slices, and a transfer without a claim."""
    accounts: list[list[dict[str, Any]]] = []
    late: list[list[str]] = []
    places: list[list[tuple[str, str | None, str]]] = []
    async with database(servers, 1) as whole, database(servers, SLICES) as sliced:
        for url in (whole, sliced):
            async with house_at(services, url, nursery) as house, processed(house):
                if url == sliced:
                    await drop_views(url)
                accounts.append([told(await account(house))])
                home = (await slice_of(house.pool, EVE)).schema
                await as_owner(url, f"set search_path = {home or 'public'}, public", *POSTED_BY_HAND)
                accounts[-1].append(told(await account(house)))
                late.append([each.job for each in await overdue(house.pool, SystemClock().now() + timedelta(days=2))])
                sightings = await in_ledger(house.pool, ["txn:rides:T-1", "txn:rides:T-2", "txn:rides:nobody"])
                places.append(sorted((each.place, each.key, each.why) for each in sightings))
    assert accounts[1] == accounts[0]
    good, bad = accounts[1]
    assert good["comes_out"]
    assert {(each["what"], each["name"]) for each in bad["findings"]} == FOUND
    assert late == [["ledger seal"]] * 2, "since the first transfer of all slices"
    assert places[1] == places[0]
    assert [key for _, key, _ in places[1]] == ["txn:rides:T-1", "txn:rides:T-2"]
