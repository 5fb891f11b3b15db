"""From a transaction to a tier to the next transaction, also when the keeper is killed, or starts anew."""

import asyncio
import json
import random
from typing import Any

import asyncpg
import pytest
from aiokafka import AIOKafkaConsumer

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import Award
from abacus.platform.health import WorkerState
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.decide.events import TierChanged
from abacus.proof.decide.recompute import recompute
from tests.support.awards import AWARD
from tests.support.house import House, completed, until
from tests.support.keeping import MARCH, everything, told
from tests.support.proxy import proxied
from tests.support.slices import tables_of
from workers import PIPELINE


@pytest.mark.long
async def test_the_next_transaction_after_an_upgrade_earns_by_the_new_tier(house: House) -> None:
    def ride(number: int, amount: str) -> dict[str, Any]:
        return completed(number, member_id="alice", amount=amount)

    async with house.running(*PIPELINE, "tierkeeper"):
        await house.produce([ride(1, "149.50")])
        await until(lambda: _counted(house, 1))
        await house.produce([ride(2, "0.50")])
        await until(lambda: _tier(house, "alice", "silver"))
        await house.produce([ride(3, "10.00")])
        await until(lambda: _counted(house, 3))
        (event,) = await _events(house, 1)
    history = await LedgerReader(house.pool).history("alice", {"GRP": 10}, 10)
    assert [transfer.points for transfer in reversed(history)] == [299, 1, 30]
    factors = json.loads(history[0].explanation)["factors"]
    assert ["tier", "silver", "1.5"] in factors
    book = CardBook(await CardStore(house.pool).all())
    assert [recompute(transfer, book) for transfer in history] == [None] * 3
    assert (event.id, event.data.from_tier, event.data.to_tier) == ("alice:GRP:tier:1", "member", "silver")
    assert (event.data.earned, str(event.data.until)) == (300, "2026-12-31")


def awards(count: int, seed: int = 1) -> list[Award]:
    rng = random.Random(seed)
    return [
        AWARD._replace(
            key=f"txn:t:{n}", member_id=f"m{rng.randrange(40):02}", points=rng.randrange(300), occurred_at=MARCH
        )
        for n in range(count)
    ]


async def post(house: House, awarded: list[Award]) -> None:
    ledger = PostgresLedger(house.pool, SystemClock())
    for start in range(0, len(awarded), 100):
        await ledger.post(awarded[start : start + 100])


def earned_by(awarded: list[Award]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for each in awarded:
        sums[each.member_id] = sums.get(each.member_id, 0) + each.points
    return sums


@pytest.mark.long
async def test_kill_9_in_mid_stream_counts_everything_once(house: House) -> None:
    awarded = awards(3000)
    async with house.running("relay"):
        await post(house, awarded[:1500])
        async with house.process("tierkeeper") as first:
            await until(lambda: _some_counted(house), within_s=40)
            posting = asyncio.create_task(post(house, awarded[1500:]))
            await asyncio.sleep(0.05)
            first.kill()
            await first.wait()
            await posting
        async with house.process("tierkeeper"):
            await until(lambda: _sums(house, earned_by(awarded)), within_s=60)
            await until(lambda: _all_published(house))
    changes = await told(house.pool)
    events = await _events(house, len(changes))
    in_order = dict.fromkeys(event.id for event in events)
    assert set(in_order) == {f"{member}:GRP:tier:{n}" for member, n, *_ in changes}
    for member in earned_by(awarded):
        numbers = [int(id_.rpartition(":")[2]) for id_ in in_order if id_.startswith(f"{member}:")]
        assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.long
async def test_a_new_group_over_the_same_tables_and_over_empty_ones_ends_with_the_same(house: House) -> None:
    awarded = awards(1200, seed=2)
    await post(house, awarded)
    async with house.running("relay", "tierkeeper"):
        await until(lambda: _sums(house, earned_by(awarded)))
        await until(lambda: _all_published(house))
    once, changes = await everything(house.pool), await told(house.pool)

    def group(name: str) -> Any:
        return house.settings.model_copy(update={"queue_prefix": house.settings.queue_prefix + name})

    async with house.running("tierkeeper", settings=group("again-")) as health:
        await until(lambda: _ready(health.worker("tierkeeper")))
        await post(house, [AWARD._replace(key="txn:t:last", member_id="last", points=5)])
        async with house.running("relay"):
            await until(lambda: _counted_of(house, "last"))
    again = [row for row in await everything(house.pool) if row[0] != "last"]
    assert again == once
    assert await told(house.pool) == changes

    owner = await asyncpg.connect(house.settings.required("database_url"))
    await owner.execute(f"truncate {tables_of('account_tier', 'tier_tally', 'tier_change')}")
    await owner.close()
    async with house.running("tierkeeper", settings=group("anew-")):
        await until(lambda: _sums(house, {**earned_by(awarded), "last": 5}))
    assert [row for row in await everything(house.pool) if row[0] != "last"] == once
    assert await told(house.pool) == changes


async def test_the_worker_waits_for_the_database_and_goes_on(house: House) -> None:
    awarded = awards(50)
    async with proxied(house.settings.required("database_url")) as (proxy, url):
        settings = house.settings.model_copy(update={"database_url": url})
        async with house.running("relay"), house.running("tierkeeper", settings=settings) as health:
            await until(lambda: _ready(health.worker("tierkeeper")))
            await proxy.cut()
            await post(house, awarded)
            await until(lambda: _waits(health.worker("tierkeeper")))
            await proxy.mend()
            await until(lambda: _sums(house, earned_by(awarded)))
            await until(lambda: _ready(health.worker("tierkeeper")))


@pytest.mark.long
@pytest.mark.parametrize(("setting", "nowhere"), [("kafka_bootstrap", "127.0.0.1:1")])
async def test_the_worker_says_what_it_waits_for(house: House, setting: str, nowhere: str) -> None:
    astray = house.settings.model_copy(update={setting: nowhere})
    async with house.running("tierkeeper", settings=astray) as health:
        await until(lambda: _waits(health.worker("tierkeeper")))
        assert health.worker("tierkeeper").detail.startswith("Kafka")


async def _counted(house: House, seq: int) -> bool:
    return bool(await house.pool.fetchval("select last_seq >= $1 from account_tier where member_id = 'alice'", seq))


async def _counted_of(house: House, member: str) -> bool:
    return bool(await house.pool.fetchval("select true from account_tier where member_id = $1", member))


async def _some_counted(house: House) -> bool:
    return bool(await house.pool.fetchval("select exists (select from account_tier)"))


async def _tier(house: House, member: str, tier: str) -> bool:
    return bool(await house.pool.fetchval("select tier = $2 from account_tier where member_id = $1", member, tier))


async def _sums(house: House, expected: dict[str, int]) -> bool:
    rows = await house.pool.fetch("select member_id, sum(earned)::bigint from tier_tally group by 1")
    return {row[0]: row[1] for row in rows} == expected


async def _all_published(house: House) -> bool:
    return not await house.pool.fetchval("select count(*) from tier_change where published_at is null")


async def _ready(health: Any) -> bool:
    return bool(health.state is WorkerState.READY)


async def _waits(health: Any) -> bool:
    return bool(health.state is WorkerState.WAITING)


async def _events(house: House, count: int) -> list[TierChanged]:
    """At least so many events of the tiers stream, by different ids, as they stand in it."""
    consumer = AIOKafkaConsumer(
        house.settings.tiers_topic,
        bootstrap_servers=house.settings.kafka_bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    events: list[TierChanged] = []

    async def enough() -> bool:
        batch = await consumer.getmany(timeout_ms=100)
        events.extend(TierChanged.model_validate_json(m.value or b"") for ms in batch.values() for m in ms)
        return len({event.id for event in events}) >= count

    await consumer.start()
    try:
        await until(enough)
        return events
    finally:
        await consumer.stop()
