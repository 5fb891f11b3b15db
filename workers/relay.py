"""Publishes transfers and seals of the ledger on the points stream."""

from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.platform.following.together import together
from abacus.platform.health import sub_workers_of
from abacus.proof.publish_seals import seal_publisher

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})


async def wire(wiring: Wiring) -> Run:
    pool, topic = await wiring.pool(size=2), wiring.settings.points_topic
    relaying, sealing = sub_workers_of(wiring.health, 2)
    return together(
        transfer_relay(pool, wiring.publisher(), topic, wiring.clock, relaying).run,
        seal_publisher(pool, wiring.publisher(), topic, wiring.clock, sealing).run,
    )
