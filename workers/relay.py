"""Publishes what is posted on the points stream."""

from abacus.bootstrap import Run, Wiring
from abacus.ledger.relay import Relay


async def wire(wiring: Wiring) -> Run:
    pool = await wiring.pool(size=2)
    return Relay(pool, wiring.publisher(), wiring.settings.points_topic, wiring.clock, wiring.health).run
