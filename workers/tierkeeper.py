"""Keeps members' tiers by the points that they earn, and tells of every change on the tiers stream."""

import asyncio
from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.platform.health import sub_workers_of
from abacus.platform.kafka.reader import StreamReader
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.programs.tiers.keeper import Keeper
from abacus.programs.tiers.publish import ChangePublisher

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
_CONNECTIONS: Final = 3


async def wire(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    bootstrap = settings.required("kafka_bootstrap")
    # Everything is looked up by key, as in posting.
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    cards = wiring.cards(pool)
    await until_available(cards.refresh, wiring.health)
    reading, publishing = sub_workers_of(wiring.health, 2)
    reader = StreamReader(bootstrap, settings.points_topic, f"{settings.queue_prefix}tierkeeper", reading)
    keeper = Keeper(pool, cards, clock, reading)
    publisher = ChangePublisher(pool, wiring.publisher(), settings.tiers_topic, clock, publishing)

    async def run(stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(reader.run(keeper.handle, stop))
            group.create_task(publisher.run(stop))

    return run
