"""Services go away and come back, and nothing is lost or paid twice meanwhile."""

import asyncio
import signal
import time
from weakref import WeakKeyDictionary

import asyncpg
import pytest

from abacus.cli.examples.stream import stream
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason
from abacus.intake.earning.metrics import TRANSACTIONS
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.health import Health, WorkerState
from abacus.platform.metrics import total
from abacus.platform.pool.led_connection import Session
from abacus.platform.pool.sliced_pool import SlicedPool
from abacus.platform.slices import SliceMap
from tests.support.awards import AWARD
from tests.support.cluster import Servers
from tests.support.commands import abacus_process
from tests.support.house import House, completed, until
from tests.support.outcomes import everything_awarded_once, settled, verified
from tests.support.proxy import proxied
from tests.support.slices import SLICES
from workers import WORKERS


@pytest.mark.long
@pytest.mark.parametrize("victim", ["calculator", "awarder", "retrier", "relay"])
async def test_kill_9_in_mid_run_loses_nothing(house: House, victim: str) -> None:
    messages = list(stream(3000))
    expected = {sent.award for sent in messages if sent.award is not None}
    others = [name for name in ("calculator", "awarder", "retrier", "relay") if name != victim]
    async with house.process(*others), house.process(victim) as first:
        await house.produce(messages[:1500])
        if victim in {"calculator", "awarder"}:
            await until(lambda: _some(house), within_s=40)
        await house.produce(messages[1500:])
        await asyncio.sleep(0.05)
        first.kill()
        await first.wait()
        async with house.process(victim):
            await until(lambda: settled(house, expected), within_s=90)
            await until(lambda: _published(house, len(expected)), within_s=60)
    await everything_awarded_once(house, messages)


@pytest.mark.long
async def test_sigterm_drains_and_ends_in_time(house: House) -> None:
    messages = list(stream(2000))
    expected = {sent.award for sent in messages if sent.award is not None}
    async with house.process("calculator", "awarder", "retrier", "relay") as process:
        await house.produce(messages)
        await until(lambda: _some(house), within_s=40)
        started = time.monotonic()
        process.send(signal.SIGTERM)
        assert await process.wait() == 0
        assert time.monotonic() - started < 30
    async with house.running():
        await until(lambda: settled(house, expected), within_s=60)
    await everything_awarded_once(house, messages)


@pytest.mark.long
async def test_postgres_goes_away_and_comes_back(house: House, servers: Servers) -> None:
    """The batch in hand goes to the retry queue, then the calculator waits; all are posted once in the end. Where only
    the coordinator of several servers goes away, it goes on with the tiers that these have.
    """
    deferred = _deferred()
    async with proxied(house.settings.required("database_url")) as (proxy, address):
        through = house.settings.model_copy(update={"database_url": address})
        async with house.running(settings=through) as health:
            await house.produce([completed(1)])
            await until(lambda: _transfers(house, 1))
            await proxy.cut()
            await house.produce([completed(number) for number in range(2, 50)])
            await until(lambda: _is(health, "relay", WorkerState.WAITING))
            if not servers.are_several:
                await until(lambda: _deferred_since(deferred))
            await house.produce([completed(number) for number in range(50, 60)])
            if not servers.are_several:
                await until(lambda: _is(health, "calculator", WorkerState.WAITING))
            assert not health.ready
            await proxy.mend()
            await until(lambda: _transfers(house, 59), within_s=120)
            await until(lambda: _ready(health))
    assert await house.transfers() == 59
    assert await house.reasons() == {}
    assert await verified(house)


@pytest.mark.long
async def test_sqs_goes_away_and_comes_back(house: House) -> None:
    async with proxied(house.settings.sqs_endpoint_url or "") as (proxy, address):
        through = house.settings.model_copy(update={"sqs_endpoint_url": address})
        async with house.running(settings=through) as health:
            await house.produce([completed(1)])
            await until(lambda: _transfers(house, 1))
            await proxy.cut()
            await house.produce([completed(number) for number in range(2, 50)])
            await until(lambda: _is(health, "calculator", WorkerState.WAITING))
            await proxy.mend()
            await until(lambda: _transfers(house, 49), within_s=60)
    assert await house.transfers() == 49
    assert await verified(house)


@pytest.mark.long
@pytest.mark.parametrize(
    ("worker", "setting", "nowhere", "dependency"),
    [
        ("calculator", "kafka_bootstrap", "127.0.0.1:1", "Kafka"),
        ("relay", "kafka_bootstrap", "127.0.0.1:1", "Kafka"),
        ("awarder", "sqs_endpoint_url", "http://127.0.0.1:1", "SQS"),
        ("retrier", "queue_prefix", "nobodys-", "queue nobodys-"),
    ],
)
async def test_a_worker_says_what_it_waits_for(
    house: House, worker: str, setting: str, nowhere: str, dependency: str
) -> None:
    await PostgresLedger(house.pool, SystemClock()).post([AWARD])  # so that the relay has something to publish
    astray = house.settings.model_copy(update={setting: nowhere})
    async with house.running(worker, settings=astray) as health:
        await until(lambda: _is(health, worker, WorkerState.WAITING))
        assert health.worker(worker).detail.startswith(dependency)


async def test_workers_wait_for_what_is_down_at_the_start(house: House) -> None:
    async with proxied(house.settings.required("database_url")) as (proxy, address):
        await proxy.cut()
        through = house.settings.model_copy(update={"database_url": address})
        async with house.running(settings=through) as health:
            await until(lambda: _is(health, "awarder", WorkerState.WAITING))
            assert health.worker("awarder").detail.startswith("database: ")
            await house.produce([completed(1)])
            await proxy.mend()
            await until(lambda: _transfers(house, 1))
            await until(lambda: _ready(health))


@pytest.mark.long
@pytest.mark.once
@pytest.mark.parametrize("worker", WORKERS)
async def test_a_worker_waits_also_where_the_database_is_full_once_its_pool_is_open(
    house: House, worker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full_until, led = WeakKeyDictionary({house.pool: 0.0}), SlicedPool.led

    async def full_at_first(pool: SlicedPool, schema: str | None, within_s: float | None) -> Session:
        if time.monotonic() < full_until.setdefault(pool, time.monotonic() + 0.2):
            raise asyncpg.TooManyConnectionsError("sorry, too many clients already")
        return await led(pool, schema, within_s)

    monkeypatch.setattr(SlicedPool, "led", full_at_first)
    async with house.running(worker) as health:
        await until(lambda: _ready(health))


@pytest.mark.long
async def test_the_breaker_stops_the_line_and_nothing_is_set_aside_or_lost(house: House) -> None:
    async with house.running() as health:
        await house.produce([b"{poison"] * 300)
        await until(lambda: _is(health, "calculator", WorkerState.STOPPED))
        assert "300 messages would be quarantined" in health.worker("calculator").detail
        assert not health.ready
        assert health.worker("awarder").state is WorkerState.READY
    assert await house.reasons() == {}
    permissive = house.settings.model_copy(update={"quarantine_share": 1.0})
    async with house.running(settings=permissive):
        await until(lambda: _held(house, Reason.UNDECODABLE, 300))


def _deferred() -> float:
    return total(TRANSACTIONS, worker="calculator", outcome="deferred")


async def _deferred_since(before: float) -> bool:
    return _deferred() > before


async def _some(house: House) -> bool:
    return await house.transfers() > 0


async def _transfers(house: House, count: int) -> bool:
    return await house.transfers() >= count


async def _published(house: House, count: int) -> bool:
    waiting = await house.pool.fetchval(
        "select count(*) from transfer t where not exists (select from relay_cursor c where"
        " (c.xid, c.member_id, c.program, c.seq) >= (t.xid, t.member_id, t.program, t.seq))"
    )
    return await house.transfers() >= count and waiting == 0


async def _held(house: House, reason: Reason, count: int) -> bool:
    return (await house.reasons()).get(reason, 0) == count


async def _is(health: Health, worker: str, state: WorkerState) -> bool:
    return health.worker(worker).state is state


async def _ready(health: Health) -> bool:
    return health.ready


@pytest.mark.long
async def test_a_right_that_is_missing_ends_the_worker_in_one_line(house: House) -> None:
    """Nothing is set aside for it, and nobody waits for a right as for a server that is away."""
    owner = await asyncpg.connect(house.settings.required("database_url"))
    try:
        for schema in SliceMap(SLICES).schemas:
            await owner.execute(f"revoke insert on {schema}.transfer_1 from abacus_app")
        await house.produce([completed(1)])
        ended = await abacus_process("worker", "calculator", "awarder", env=house.environment())
        assert ended.code == 2
        last = ended.err.splitlines()[-1]
        assert last.startswith(
            "abacus: the database says: permission denied for table transfer_1; run `abacus migrate`"
        )
        assert "Traceback" not in ended.err
        assert (await house.transfers(), await house.reasons()) == (0, {})
        for schema in SliceMap(SLICES).schemas:
            await owner.execute(f"grant insert on {schema}.transfer_1 to abacus_app")
    finally:
        await owner.close()
    async with house.running("awarder"):
        await until(lambda: _transfers(house, 1))
    assert await house.reasons() == {}
