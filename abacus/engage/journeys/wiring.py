"""How journeys are put together."""

from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.notify.renderer import rendering
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.signals.events.wiring import built_in_sources


async def journey_desk(wiring: Wiring, pool: Pool, approvals: Approvals) -> JourneyDesk:
    sources, renderer = built_in_sources(wiring.settings), await wiring.entered(rendering())
    return JourneyDesk(pool, wiring.clock, sources, approvals, renderer)
