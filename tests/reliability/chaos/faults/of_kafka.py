"""The broker goes away and comes back; readers come and go; one sleeps past its session and wakes up."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from aiokafka.errors import KafkaError

from abacus.core.errors import Unavailable
from abacus.platform.kafka.groups import committed
from tests.reliability.chaos.faults.fault import Fault, Struck, at_moments, in_turn
from tests.reliability.chaos.ground import ProvingGround, kafka_admin
from tests.reliability.chaos.services import Restart, daemon

_ANSWERS_WITHIN_S: Final = 180.0  # a broker that was killed looks through the log of each partition first
READERS: Final = ("calculator", "campaigner", "journeyer")
_MOST: Final = 5  # of each
_MEMBERS: Final = 5  # where they stand in the broker's description of a group
_SLEEPS_S: Final = (8.0, 11.0)  # the session of a reader is over after 6


@asynccontextmanager
async def _storm(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    names = _readers(ground, rng)

    async def strike(struck: Struck) -> None:
        name = next(names)
        readers = ground.crew.named(name)
        if len(readers) < _MOST and (len(readers) == 1 or rng.random() < 0.5):
            ground.crew.hire(name)
            struck[f"{name} joined"] += 1
        else:
            await ground.crew.dismiss(rng.choice(readers))
            struck[f"{name} left"] += 1

    async with at_moments(strike, rng, every_s=(0.5, 2.5)) as struck:
        yield struck


@asynccontextmanager
async def _restart(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    restart, signals = Restart.of(daemon("kafka")), in_turn((signal.SIGTERM, signal.SIGKILL), rng)

    async def strike(struck: Struck) -> None:
        by = next(signals)
        await restart.end(by)
        await asyncio.sleep(rng.uniform(0, 2))
        restart.start()
        await _answers(ground)
        struck[by.name] += 1

    async with at_moments(strike, rng, every_s=(3, 6)) as struck:
        yield struck


async def _answers(ground: ProvingGround) -> None:
    settings = ground.settings
    async with asyncio.timeout(_ANSWERS_WITHIN_S):
        while True:
            try:
                await committed(
                    settings.required("kafka_bootstrap"),
                    settings.transactions_topic,
                    ground.group_of("calculator"),
                )
            except (Unavailable, KafkaError, OSError):
                await asyncio.sleep(0.2)
            else:
                return


@asynccontextmanager
async def _zombie(ground: ProvingGround, rng: Random) -> AsyncIterator[Struck]:
    names = _readers(ground, rng)

    async def strike(struck: Struck) -> None:
        name = next(names)
        worker = rng.choice(ground.crew.named(name))
        if not worker.freeze():
            return
        before = await _members(ground, name)
        try:
            await asyncio.sleep(rng.uniform(*_SLEEPS_S))
            # It counts when the group has gone on without it.
            struck[name] += bool(before - await _members(ground, name))
        finally:
            worker.thaw()

    async with at_moments(strike, rng, every_s=(2, 5)) as struck:
        yield struck


def _readers(ground: ProvingGround, rng: Random) -> Iterator[str]:
    """Those of the crew, in turn."""
    return in_turn([name for name in READERS if ground.crew.named(name)], rng)


async def _members(ground: ProvingGround, worker: str) -> set[str]:
    await _answers(ground)
    async with kafka_admin(ground.settings) as admin:
        [answer] = await admin.describe_consumer_groups([ground.group_of(worker)])
        return {member[0] for member in answer.groups[0][_MEMBERS]}


REBALANCES: Final = Fault(
    "rebalances", "calculators, campaigners and journeyers join and leave, one every 0.5 to 2.5 s", _storm
)
KAFKA_RESTART: Final = Fault(
    "kafka-restart", "the broker stopped by SIGTERM or kill -9, and started again", _restart, lasts=1.5
)
ZOMBIE: Final = Fault(
    "zombie",
    "a calculator, a campaigner or a journeyer stopped past its session (8 to 11 s), then woken with its batch in hand",
    _zombie,
)
