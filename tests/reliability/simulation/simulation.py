"""A run: the workload goes through Abacus in a storm, then comes a calm, an operator's remedies, and quiet."""

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
from abacus.intake.earning import issuer as issuing
from abacus.intake.earning.decide.source_message import SourceMessage, encode_retry
from abacus.ledger.relay import publish_transfers
from abacus.platform import patience
from abacus.platform.following import leader as leading
from abacus.platform.kafka import reader
from abacus.platform.quarantine.replay import replay
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.packer import pack
from tests.reliability.simulation.cards import TIERS
from tests.reliability.simulation.ledgers import Books
from tests.reliability.simulation.processes import supervise
from tests.reliability.simulation.simulated import GROUP, TRANSACTIONS, Parts, SimulatedAbacus
from tests.reliability.simulation.storm import LASTING_S, Trace
from tests.reliability.simulation.strays import STRAYS
from tests.reliability.simulation.violation import Violated
from tests.reliability.simulation.virtual_time import run_virtually
from tests.reliability.simulation.workload import START, Sent, workload
from tests.support.fixed_clock import FixedClock
from tests.support.memory_log import Stored
from tests.support.memory_queue import MemoryQueue

_QUIET_WITHIN_S: Final = 2 * 3600.0
_LOOKS_EVERY_S: Final = 5.0
_IDLE_S: Final = 20.0


@dataclass(frozen=True)
class Finished:
    """A simulated Abacus after its run, the messages that it was given, and the log of its workers."""

    simulated: SimulatedAbacus
    books: Books
    delivered: Sequence[tuple[Sent, Stored]]
    logs: Sequence[Mapping[str, Any]]


def play(seed: int, parts: Parts, trace: Trace) -> Finished:
    """The whole run of a seed. Raises `Violated` when it does not come to rest."""
    clock = FixedClock(START)
    with capture_logs() as logs:
        simulated, delivered = run_virtually(_play(seed, parts, clock, trace), clock)
    return Finished(simulated, simulated.ledger.books(), delivered, logs)


async def _play(
    seed: int, parts: Parts, clock: FixedClock, trace: Trace
) -> tuple[SimulatedAbacus, Sequence[tuple[Sent, Stored]]]:
    simulated = SimulatedAbacus(seed, parts, clock, trace)
    closing = asyncio.Event()
    with _small_and_repeatable(seed, simulated):
        supervisors = [asyncio.ensure_future(supervise(simulated, name, closing)) for name in simulated.processes]
        delivered = await _weather_the_storm(simulated, workload(seed, LASTING_S))
        simulated.storm.calm_down()
        trace.note("world", "is calm")
        await _until_quiet(simulated, supervisors)
        trace.note("operator", "sends everything back that was set aside")
        await _operate(simulated)
        await _until_quiet(simulated, supervisors)
        closing.set()
        await asyncio.gather(*supervisors)
    return simulated, delivered


@contextmanager
def _small_and_repeatable(seed: int, simulated: SimulatedAbacus) -> Iterator[None]:
    """Envelopes and postings are made so small that a batch takes several: each is a place to crash at. A relay that
    has nothing to do looks again later than in production, so that a long calm costs few steps.
    """
    chance = random.Random(f"sizes {seed}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(issuing, "pack", partial(pack, max_items=chance.choice((1, 3, 100))))
        patch.setattr(awarder, "MOST_AWARDS", chance.choice((2, 1000)))
        patch.setattr(publish_transfers, "IDLE_S", _IDLE_S)
        patch.setattr(leading, "STANDBY_S", _IDLE_S)
        patch.setattr(reader, "AIOKafkaConsumer", simulated.kafka_client)
        patch.setattr(patience, "JITTER", random.Random(f"patience {seed}"))
        yield


async def _weather_the_storm(simulated: SimulatedAbacus, sent: Sequence[Sent]) -> list[tuple[Sent, Stored]]:
    loop = asyncio.get_running_loop()
    _promote_and_throw_out(simulated)
    for stray in STRAYS:
        await _queues(simulated)[stray.queue].send([stray.body], delay_s=simulated.chance.randint(0, 300))
    delivered = []
    for each in sent:
        await asyncio.sleep(max(0.0, each.at_s - loop.time()))
        stored = simulated.log.append(TRANSACTIONS, each.message)
        simulated.trace.note("producer", f"{stored.partition}/{stored.offset} {type(each.verdict).__name__}")
        delivered.append((each, stored))
    await asyncio.sleep(max(0.0, LASTING_S - loop.time()))
    return delivered


def _promote_and_throw_out(simulated: SimulatedAbacus) -> None:
    """The events from outside that happen to Abacus, at times drawn beforehand."""
    loop, storm = asyncio.get_running_loop(), simulated.storm

    def promote() -> None:
        if storm.strikes("promotion"):
            simulated.tiers.listed.update({account: tiers[-1] for account, tiers in TIERS.items()})

    def throw_out() -> None:
        group = simulated.log.group(GROUP, TRANSACTIONS)
        if group.members and storm.strikes("thrown_out"):
            member = storm.chance.choice(group.members)
            group.leave(member)
            member.please_rejoin()

    loop.call_at(storm.chance.uniform(0, LASTING_S), promote)
    for second in range(10, int(LASTING_S), 10):
        loop.call_at(second, throw_out)


async def _until_quiet(simulated: SimulatedAbacus, supervisors: Sequence["asyncio.Future[None]"]) -> None:
    deadline = asyncio.get_running_loop().time() + _QUIET_WITHIN_S
    while unfinished := _unfinished(simulated):
        for supervisor in supervisors:
            if supervisor.done():
                supervisor.result()
        if asyncio.get_running_loop().time() > deadline:
            raise Violated("comes to rest", f"after {_QUIET_WITHIN_S / 3600:g} calm hours: {unfinished}")
        await _redrive(simulated)
        await asyncio.sleep(_LOOKS_EVERY_S)


def _unfinished(simulated: SimulatedAbacus) -> dict[str, int]:
    left = {
        "transactions": simulated.log.behind(GROUP, TRANSACTIONS),
        "award queue": len(simulated.award_queue),
        "retry queue": len(simulated.retry_queue),
        "unpublished": simulated.ledger.unpublished(),
    }
    left |= {dead.name: len(dead) for queue in _queues(simulated).values() if (dead := queue.dead_letters)}
    return {name: number for name, number in left.items() if number}


async def _redrive(simulated: SimulatedAbacus) -> None:
    """Redrive as `abacus dlq redrive` does."""
    for queue in _queues(simulated).values():
        while queue.dead_letters and (messages := await queue.dead_letters.receive()):
            simulated.trace.misfortunes["dead letters"] += len(messages)
            await queue.send([message.body for message in messages])
            await queue.dead_letters.delete(messages)


async def _operate(simulated: SimulatedAbacus) -> None:
    """Replay as `abacus quarantine replay --all` does. An item that is still bad has to come back under its old id."""
    await replay(
        cast("QuarantineStore", simulated.quarantine),  # it has the one method that a replay uses
        queues=_queues(simulated),
        encode_transaction=lambda item: encode_retry(SourceMessage(item.body, item.origin, cause=str(item.reason))),
        limit=100_000,
    )


def _queues(simulated: SimulatedAbacus) -> dict[str, MemoryQueue]:
    return {queue.name: queue for queue in (simulated.award_queue, simulated.retry_queue)}
