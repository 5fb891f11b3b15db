"""Sends partners the outcome of their awards: from the points stream and the rejections to their webhooks."""

import random
from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.intake.partners.webhooks.outbox import Outbox
from abacus.intake.partners.webhooks.sender import CONCURRENCY, webhook_sender
from abacus.intake.partners.webhooks.sources import Postings, rejections
from abacus.platform.delivery.post import Poster
from abacus.platform.following.together import together
from abacus.platform.health import sub_workers_of

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
_CONNECTIONS: Final = 4


async def wire(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    pool = await wiring.pool(size=_CONNECTIONS)
    poster = Poster(to_private=settings.webhooks_to_private, at_once=CONCURRENCY.at_once)
    wiring.at_the_end(poster.close)
    reading, rejecting, sending = sub_workers_of(wiring.health, 3)
    outbox = Outbox(pool, clock)
    return together(
        wiring.following(settings.points_topic, "webhooks", Postings(outbox, reading).handle, reading),
        rejections(pool, clock, rejecting).run,
        webhook_sender(outbox, poster, clock, sending, rng=random.Random(), secrets=wiring.secrets()).run,
    )
