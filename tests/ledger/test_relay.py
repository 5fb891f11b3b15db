"""The relay on Postgres: in order, complete, and never past a transaction that commits late."""

import asyncio
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta

import asyncpg
import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, Unavailable
from abacus.core.sources import STREAM
from abacus.ledger.relay.cursor import START, RelayCursor
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.platform.slices import SliceMap
from tests.support.fixed_clock import FixedClock
from tests.support.points_broker import TOPIC, Broker, Relays, publish_all
from tests.support.slices import SLICES, home_of

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def award(number: int, member: str = "bob") -> Award:
    activity = True
    return Award(
        f"txn:t:{number}",
        member,
        "GRP",
        "SG",
        TransferKind.EARN,
        5,
        NOW,
        date(2026, 11, 30),
        activity,
        "ab" * 16,
        b'{"points":5}',
        STREAM,
    )


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def relay(pool: Pool, broker: Broker) -> Relays:
    return Relays(pool, broker, SystemClock())


async def posted_by(pool: Pool, xid: int, count: int, first_seq: int) -> None:
    """Transfers of so many members, as the transaction with that id would have left them."""
    await pool.execute(
        "insert into transfer"
        " select 'm' || lpad(n::text, 4, '0'), 'GRP', $3::bigint, 'earn', 5, 5, 'txn:t:' || $1 || n, 'SG', $4, $4,"
        " '2026-11-30', '{\"points\":5}', null, null, $1::text::xid8, '' from generate_series(1, $2) as n",
        str(xid),
        count,
        first_seq,
        NOW,
    )


async def test_everything_is_published_once_in_order(pool: Pool, relay: Relays, broker: Broker) -> None:
    ledger = PostgresLedger(pool, SystemClock())
    for start in range(0, 60, 20):
        await ledger.post([award(number, f"m{number % 4}") for number in range(start, start + 20)])
    assert await publish_all(relay, pool) == 60
    assert await publish_all(relay, pool) == 0
    for member in range(4):
        seqs = [event.data.seq for event in broker.events if event.subject == f"m{member}"]
        assert seqs == list(range(1, 16))


@pytest.mark.skipif(SLICES > 1, reason="writers of a slice wait for each other: tests/ledger/slices/test_slices.py")
async def test_a_transaction_that_commits_late_is_not_skipped(
    pool: Pool, relay: Relays, broker: Broker, database_url: str
) -> None:
    ledger = PostgresLedger(pool, SystemClock())
    late = await asyncpg.connect(database_url, server_settings={"role": "abacus_app"})
    try:
        transaction = late.transaction()
        await transaction.start()
        await late.execute(
            "insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at,"
            " posted_at, explanation, hash)"
            " values ('late', 'GRP', 1, 'earn', 1, 1, 'late', 'SG', now(), now(), '{}', '')"
        )
        await ledger.post([award(1)])
        assert await publish_all(relay, pool) == 0  # transfers that were posted after it wait for it
        await transaction.commit()
    finally:
        await late.close()
    assert await publish_all(relay, pool) == 2
    assert broker.ids == ["late:GRP:1", "bob:GRP:1"]


async def test_a_relay_that_could_not_publish_goes_on_from_its_cursor(
    pool: Pool, relay: Relays, broker: Broker
) -> None:
    ledger = PostgresLedger(pool, SystemClock())
    await ledger.post([award(1)])
    await publish_all(relay, pool)
    await ledger.post([award(2)])
    broker.down = True
    with pytest.raises(Unavailable):
        await publish_all(relay, pool)
    broker.down = False
    fresh = Relays(pool, broker, SystemClock())
    assert await publish_all(fresh, pool) == 1
    assert broker.ids == ["bob:GRP:1", "bob:GRP:2"]


@pytest.mark.long
async def test_of_two_relays_one_stands_by_and_takes_over(pool: Pool, broker: Broker) -> None:
    ledger = PostgresLedger(pool, SystemClock())
    stops, schema = [asyncio.Event(), asyncio.Event()], await home_of(pool, "bob")
    relays = [transfer_relay(pool, broker, TOPIC, SystemClock(), WorkerHealth("relay"), schema=schema) for _ in stops]
    running = [asyncio.create_task(relay.run(stop)) for relay, stop in zip(relays, stops, strict=True)]
    try:
        for number in range(3):
            await ledger.post([award(number)])
        await _until(lambda: len(broker.events) == 3)
        stops[0].set()
        await running[0]
        await ledger.post([award(3)])
        await _until(lambda: len(broker.events) == 4)
    finally:
        for stop in stops:
            stop.set()
        await asyncio.gather(*running)
    assert broker.ids == [f"bob:GRP:{seq}" for seq in range(1, 5)]


async def test_a_cursor_that_this_server_has_not_reached_is_told_and_not_followed(
    pool: Pool, relay: Relays, broker: Broker
) -> None:
    """As after a restore into a new server: transaction numbers start again."""
    await PostgresLedger(pool, SystemClock()).post([award(1)])
    await RelayCursor(pool, TOPIC, SystemClock()).positions()
    await pool.execute("update relay_cursor set xid = '9000000000'")
    with pytest.raises(Unavailable, match="restored from a dump"):
        await publish_all(relay, pool)
    assert broker.ids == []
    await RelayCursor(pool, TOPIC, SystemClock()).rewind(None)
    assert await publish_all(relay, pool) == 1


async def test_rewinding_publishes_again(pool: Pool, relay: Relays, broker: Broker) -> None:
    clock = FixedClock(NOW)
    ledger = PostgresLedger(pool, clock)
    await ledger.post([award(1)])
    clock.set(NOW + timedelta(hours=1))
    await ledger.post([award(2)])
    await publish_all(relay, pool)
    cursor = RelayCursor(pool, TOPIC, SystemClock())
    assert await cursor.waiting() == 0

    await cursor.rewind(NOW + timedelta(minutes=30))
    assert await cursor.waiting() == 1
    assert await publish_all(relay, pool) == 1
    with pytest.raises(Refused, match="nothing was posted since"):
        await cursor.rewind(NOW + timedelta(hours=2))
    await cursor.rewind(None)
    assert await cursor.positions() == [START] * SLICES
    assert await publish_all(relay, pool) == 2
    assert broker.ids == ["bob:GRP:1", "bob:GRP:2", "bob:GRP:2", "bob:GRP:1", "bob:GRP:2"]


async def _until(condition: "object", within_s: float = 20.0) -> None:
    assert callable(condition)
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110  # the broker below sets no event
            await asyncio.sleep(0.02)


async def test_transaction_ids_are_numbers_and_not_texts(relay: Relays, pool: Pool, broker: Broker) -> None:
    """As texts, 100 comes before 99: if 100 has more than a batch, transfers of 99 would be passed over for ever."""
    await posted_by(pool, 99, 5, first_seq=1)
    await posted_by(pool, 100, 2100, first_seq=2)
    assert await publish_all(relay, pool) == 2105
    assert len(set(broker.ids)) == 2105
    slice_map, seqs = SliceMap(SLICES), defaultdict[int, list[int]](list)
    for event in broker.events:
        seqs[slice_map.slice_of(event.subject)].append(event.data.seq)
    assert all(each == sorted(each) for each in seqs.values())
