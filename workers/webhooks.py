"""Tells partners what became of their awards: from the points stream and the rejections to their webhooks."""

import asyncio
import random
from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.intake.partners.webhooks.outbox import Outbox
from abacus.intake.partners.webhooks.sender import CONCURRENCY, webhook_sender
from abacus.intake.partners.webhooks.sources import Postings, Rejections
from abacus.platform.delivery.post import Poster
from abacus.platform.health import sub_workers_of
from abacus.platform.kafka.reader import StreamReader

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
_CONNECTIONS: Final = 4


async def wire(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    bootstrap = settings.required("kafka_bootstrap")
    pool = await wiring.pool(size=_CONNECTIONS)
    poster = Poster(to_private=settings.webhooks_to_private, at_once=CONCURRENCY.at_once)
    wiring.at_the_end(poster.close)
    reading, rejecting, sending = sub_workers_of(wiring.health, 3)
    outbox = Outbox(pool, clock)
    reader = StreamReader(bootstrap, settings.points_topic, f"{settings.queue_prefix}webhooks", reading)
    postings = Postings(outbox, reading)
    rejections = Rejections(pool, clock, rejecting)
    sender = webhook_sender(outbox, poster, clock, sending, rng=random.Random())

    async def run(stop: asyncio.Event) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(reader.run(postings.handle, stop))
            group.create_task(rejections.run(stop))
            group.create_task(sender.run(stop))

    return run
