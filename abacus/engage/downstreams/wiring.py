"""How the services that campaigns ask and call are put together."""

from abacus.engage.downstreams.directory import DownstreamDirectory
from abacus.engage.downstreams.store import DownstreamStore
from abacus.platform.announcements import Announced
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring


def downstreams_in_use(wiring: Wiring, pool: Pool) -> DownstreamDirectory:
    downstreams = DownstreamDirectory(lambda: DownstreamStore(pool).signed(wiring.clock.now()))
    return wiring.keep(downstreams, on=(Announced.DOWNSTREAMS,))
