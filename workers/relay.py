"""Publishes what is posted on the points stream, and the seals of the ledger with it."""

import asyncio
from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.ledger.relay.publish import Relay
from abacus.platform.health import sub_workers_of
from abacus.proof.announce import SealPublisher

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})


async def wire(wiring: Wiring) -> Run:
    pool, topic = await wiring.pool(size=2), wiring.settings.points_topic
    relaying, sealing = sub_workers_of(wiring.health, 2)
    relay = Relay(pool, wiring.publisher(), topic, wiring.clock, relaying)
    seals = SealPublisher(pool, wiring.publisher(), topic, wiring.clock, sealing)

    async def run(stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(relay.run(stop))
            group.create_task(seals.run(stop))

    return run
