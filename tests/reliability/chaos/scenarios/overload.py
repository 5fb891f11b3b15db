"""Ten times what the pipeline manages, for a while: memory stays bounded, partitions pause, and nothing is dropped."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from random import Random
from typing import Final

import httpx
import psutil

from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.patience import until_available
from tests.reliability.chaos.crew import Worker
from tests.reliability.chaos.ground import READY_WITHIN_S, ProvingGround, kafka_admin
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.reliability.chaos.settling import left_in
from tests.reliability.chaos.workload import awarded, calculator_by, cards
from tests.support.ports import free_port

MOST_MEMORY_MIB: Final = 250
_TIMES: Final = 10
_WARM: Final = 4_000  # every member once at least, and every process has worked
_STEADY: Final = 8_000
_STEADY_WITHIN_S: Final = 180.0
_AT_ONCE: Final = 1_000
_LOOK_EVERY_S: Final = 0.25
_HELD_UP_S: Final = 9.0  # longer than the group waits for a silent member
_RECOVERS_IN: Final = 25  # times as long as it was overloaded
_MEMBERS: Final = 2_000
_MIB: Final = 1024 * 1024
_PAUSED: Final = re.compile(r"^abacus_partitions_paused\{.*\} ([0-9.]+)$", re.MULTILINE)
_BODY: Final = (
    b'{"type":"transaction.completed","source":"rides","transaction_id":"O-%08d","member_id":"m%05d","country":"SG",'
    b'"vertical":"rides","payment_type":"wallet","amount":"%d.00","currency":"SGD",'
    b'"occurred_at":"2026-05-01T12:00:00+08:00"}'
)


async def _play(stage: Stage, rng: Random) -> None:
    ground, numbers = stage.ground, count()
    watched = await _hired_to_be_watched(ground)
    await _post(stage, numbers, _WARM)
    begun = time.monotonic()
    await _post(stage, numbers, _STEADY)
    steady = _STEADY / (time.monotonic() - begun)
    async with _weighed(ground) as most:
        begun = time.monotonic()
        wanted = round(_TIMES * steady * stage.plan.overload_s)
        sending = asyncio.create_task(_send(stage, numbers, wanted, within_s=stage.plan.overload_s))
        await _held_up(stage, watched, rng.uniform(0.1, 0.4) * stage.plan.overload_s)
        await sending
        took, sent = time.monotonic() - begun, len(stage.sent) - _WARM - _STEADY
        stage.hold("it was overloaded when the sender ended", if_=(await left_in(ground)).unread > sent / 2)
        await stage.until("all is posted", lambda: _posted(stage), _RECOVERS_IN * stage.plan.overload_s)
        await stage.rests()
        recovered = time.monotonic() - begun - took
    stage.seen.update(
        {
            "a second steadily": round(steady),
            "a second for a while": round(sent / took),
            "s overloaded": round(took),
            "s to recover": round(recovered),
        }
    )
    for name, mib in most.items():
        stage.seen[f"MiB at most, {name}"] = mib
        stage.hold(f"a {name} needs less than {MOST_MEMORY_MIB} MiB, not {mib}", if_=mib < MOST_MEMORY_MIB)
    stage.fates = awarded(stage.sent, calculator_by(cards()))


async def _hired_to_be_watched(ground: ProvingGround) -> dict[Worker, int]:
    """Calculators in place of the others, and where each tells its metrics."""
    watched: dict[Worker, int] = {}
    for worker in ground.crew.named("calculator"):
        await ground.crew.dismiss(worker)
        port = free_port()
        watched[ground.crew.hire("calculator", health_port=port)] = port
    await ground.crew.ready(READY_WITHIN_S)
    return watched


async def _post(stage: Stage, numbers: "count[int]", many: int) -> None:
    """Send these messages, and wait until all are posted."""
    await _send(stage, numbers, many, within_s=0.0)
    await stage.until("all of a lot is posted", lambda: _posted(stage), _STEADY_WITHIN_S)


async def _send(stage: Stage, numbers: "count[int]", wanted: int, *, within_s: float) -> None:
    """Send these messages evenly over the time; one after the other without a pause where none is given."""
    settings = stage.ground.settings
    publisher = StreamPublisher(settings.required("kafka_bootstrap"))
    begun, sent = time.monotonic(), 0
    try:
        while sent < wanted and (not within_s or time.monotonic() - begun < within_s):
            lot = _messages(numbers, min(_AT_ONCE, wanted - sent))
            stage.sent += lot
            await until_available(lambda: publisher.publish(settings.transactions_topic, lot), WorkerHealth("sender"))  # noqa: B023  # awaited here
            sent += len(lot)
            await asyncio.sleep(begun + within_s * sent / wanted - time.monotonic())
    finally:
        await publisher.close()


def _messages(numbers: "count[int]", many: int) -> Sequence[StreamMessage]:
    drawn = [next(numbers) for _ in range(many)]
    return [
        StreamMessage(b"m%05d" % (each % _MEMBERS), _BODY % (each, each % _MEMBERS, 10 + each % 90)) for each in drawn
    ]


async def _posted(stage: Stage) -> bool:
    return await stage.posted() >= len(stage.sent)


async def _held_up(stage: Stage, watched: dict[Worker, int], after_s: float) -> None:
    """The tiers do not answer for longer than a calculator's session lasts: the calculators pause, and stay members."""
    await asyncio.sleep(after_s)
    before = await _members(stage.ground)
    paused: Counter[str] = Counter()
    async with stage.ground.pool.acquire() as connection, connection.transaction():
        await connection.execute("lock table membership in access exclusive mode")
        ends = time.monotonic() + _HELD_UP_S
        async with httpx.AsyncClient(trust_env=False) as client:
            while time.monotonic() < ends:
                for worker, port in watched.items():
                    told = (await client.get(f"http://127.0.0.1:{port}/metrics")).text
                    paused[str(worker.pid)] = max(paused[str(worker.pid)], *map(_whole, _PAUSED.findall(told)), 0)
                await asyncio.sleep(_LOOK_EVERY_S)
    stage.seen["partitions paused"] += paused.total()
    stage.hold(f"every calculator pauses its partitions: {dict(paused)}", if_=all(paused.values()))
    stage.hold("the group keeps those who pause", if_=await _members(stage.ground) == before)


def _whole(number: str) -> int:
    return int(float(number))


async def _members(ground: ProvingGround) -> set[str]:
    async with kafka_admin(ground.settings) as admin:
        [answer] = await admin.describe_consumer_groups([f"{ground.settings.queue_prefix}calculator"])
        _, _, _, _, _, members, *_ = answer.groups[0]
        return {member[0] for member in members}


@asynccontextmanager
async def _weighed(ground: ProvingGround) -> AsyncIterator[Counter[str]]:
    """The most memory that any worker of each name has had while the block lasted, in MiB."""
    most: Counter[str] = Counter()

    async def weigh() -> None:
        while True:
            for worker in ground.crew.workers:
                if worker.pid is not None:
                    mib = psutil.Process(worker.pid).memory_info().rss // _MIB
                    most[worker.name] = max(most[worker.name], mib)
            await asyncio.sleep(_LOOK_EVERY_S)

    weighing = asyncio.create_task(weigh())
    try:
        yield most
    finally:
        weighing.cancel()
        await asyncio.wait((weighing,))


OVERLOAD: Final = Scenario(
    "overload",
    "ten times what the pipeline manages, and in its midst the tiers cannot be looked up for 9 s",
    _play,
    most=0,
)
