"""A run: the workload through the house in a storm, then a calm, then what an operator would do, then quiet."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import pytest
from structlog.testing import capture_logs

from abacus.intake.awarding import awarder
from abacus.intake.earning import issuing
from abacus.intake.earning.decide.source_message import Message, encode_retry
from abacus.platform import patience
from abacus.platform.kafka import reader
from abacus.platform.quarantine.replay import replay
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.packing import pack
from tests.simulation.cards import TIERS
from tests.simulation.house import GROUP, TRANSACTIONS, House, Parts
from tests.simulation.processes import supervise
from tests.simulation.storm import LASTING_S, Trace
from tests.simulation.strays import STRAYS
from tests.simulation.violation import Violated
from tests.simulation.virtual_time import run_virtually
from tests.simulation.workload import START, Sent, workload
from tests.support.fixed_clock import FixedClock
from tests.support.memory_log import Stored
from tests.support.memory_queue import MemoryQueue

_QUIET_WITHIN_S: Final = 2 * 3600.0
_LOOKS_EVERY_S: Final = 5.0


@dataclass(frozen=True)
class Finished:
    """A house after its run, what was put into it, and what its workers logged."""

    house: House
    delivered: Sequence[tuple[Sent, Stored]]
    logs: Sequence[Mapping[str, Any]]


def play(seed: int, parts: Parts, trace: Trace) -> Finished:
    """The whole run of a seed. Raises `Violated` when it does not come to rest."""
    clock = FixedClock(START)
    with capture_logs() as logs:
        house, delivered = run_virtually(_play(seed, parts, clock, trace), clock)
    return Finished(house, delivered, logs)


async def _play(
    seed: int, parts: Parts, clock: FixedClock, trace: Trace
) -> tuple[House, Sequence[tuple[Sent, Stored]]]:
    house = House(seed, parts, clock, trace)
    closing = asyncio.Event()
    with _small_and_repeatable(seed, house):
        supervisors = [asyncio.ensure_future(supervise(house, name, closing)) for name in house.processes]
        delivered = await _weather_the_storm(house, workload(seed, LASTING_S))
        house.storm.calm_down()
        trace.note("world", "is calm")
        await _until_quiet(house, supervisors)
        trace.note("operator", "sends everything back that was set aside")
        await _operate(house)
        await _until_quiet(house, supervisors)
        closing.set()
        await asyncio.gather(*supervisors)
    return house, delivered


@contextmanager
def _small_and_repeatable(seed: int, house: House) -> Iterator[None]:
    """Envelopes and postings are made so small that a batch takes several: each is a place to crash at."""
    chance = random.Random(f"sizes {seed}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(issuing, "pack", partial(pack, max_items=chance.choice((1, 3, 100))))
        patch.setattr(awarder, "MOST_AWARDS", chance.choice((2, 1000)))
        patch.setattr(reader, "AIOKafkaConsumer", house.kafka_client)
        patch.setattr(patience, "_RNG", random.Random(f"patience {seed}"))
        yield


async def _weather_the_storm(house: House, sent: Sequence[Sent]) -> list[tuple[Sent, Stored]]:
    loop = asyncio.get_running_loop()
    _promote_and_throw_out(house)
    for stray in STRAYS:
        await _queues(house)[stray.queue].send([stray.body], delay_s=house.chance.randint(0, 300))
    delivered = []
    for each in sent:
        await asyncio.sleep(max(0.0, each.at_s - loop.time()))
        stored = house.log.append(TRANSACTIONS, each.message)
        house.trace.note("producer", f"{stored.partition}/{stored.offset} {type(each.verdict).__name__}")
        delivered.append((each, stored))
    await asyncio.sleep(max(0.0, LASTING_S - loop.time()))
    return delivered


def _promote_and_throw_out(house: House) -> None:
    """What happens to the house from outside, at times drawn beforehand."""
    loop, storm = asyncio.get_running_loop(), house.storm

    def promote() -> None:
        if storm.strikes("promotion"):
            house.tiers.listed.update({account: tiers[-1] for account, tiers in TIERS.items()})

    def throw_out() -> None:
        group = house.log.group(GROUP, TRANSACTIONS)
        if group.members and storm.strikes("thrown_out"):
            member = storm.chance.choice(group.members)
            group.leave(member)
            member.please_rejoin()

    loop.call_at(storm.chance.uniform(0, LASTING_S), promote)
    for second in range(10, int(LASTING_S), 10):
        loop.call_at(second, throw_out)


async def _until_quiet(house: House, supervisors: Sequence["asyncio.Future[None]"]) -> None:
    deadline = asyncio.get_running_loop().time() + _QUIET_WITHIN_S
    while unfinished := _unfinished(house):
        for supervisor in supervisors:
            if supervisor.done():
                supervisor.result()
        if asyncio.get_running_loop().time() > deadline:
            raise Violated("comes to rest", f"after {_QUIET_WITHIN_S / 3600:g} calm hours: {unfinished}")
        await _redrive(house)
        await asyncio.sleep(_LOOKS_EVERY_S)


def _unfinished(house: House) -> dict[str, int]:
    left = {
        "transactions": house.log.behind(GROUP, TRANSACTIONS),
        "award queue": len(house.award_queue),
        "retry queue": len(house.retry_queue),
        "unpublished": len(house.ledger.transfers) - house.cursor.position,
    }
    left |= {dead.name: len(dead) for queue in _queues(house).values() if (dead := queue.dead_letters)}
    return {name: number for name, number in left.items() if number}


async def _redrive(house: House) -> None:
    """What `abacus dlq redrive` does."""
    for queue in _queues(house).values():
        while queue.dead_letters and (messages := await queue.dead_letters.receive()):
            house.trace.misfortunes["dead letters"] += len(messages)
            await queue.send([message.body for message in messages])
            await queue.dead_letters.delete(messages)


async def _operate(house: House) -> None:
    """What `abacus quarantine replay --all` does: what is still bad has to come back under its old id."""
    await replay(
        cast("QuarantineStore", house.quarantine),  # it has the one method that a replay uses
        queues=_queues(house),
        encode_transaction=lambda item: encode_retry(Message(item.body, item.origin, cause=str(item.reason))),
        limit=100_000,
    )


def _queues(house: House) -> dict[str, MemoryQueue]:
    return {queue.name: queue for queue in (house.award_queue, house.retry_queue)}
