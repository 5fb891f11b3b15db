"""How the services that campaigns ask and the webhooks that they call are put together."""

from typing import NamedTuple

from abacus.engage.downstreams.decide.question import LONGEST_ANSWER
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.downstreams.services import CALLS_AT_ONCE, Services
from abacus.engage.downstreams.store import DownstreamDirectory, DownstreamStore
from abacus.platform.delivery.post import Poster
from abacus.platform.encryption import Secrets
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring


class Outside(NamedTuple):
    """What is asked and called, and how: with `poster`, signed by `secrets`."""

    downstreams: DownstreamDirectory
    services: Services
    poster: Poster
    secrets: Secrets


async def outside(wiring: Wiring, pool: Pool, *, webhooks_at_once: int) -> Outside:
    """What is published is read before this returns."""
    downstreams = wiring.keep(
        DownstreamDirectory(lambda: DownstreamStore(pool).signed(wiring.clock.now())), on=(DOWNSTREAMS.table.name,)
    )
    at_once, to_private = webhooks_at_once + 4 * CALLS_AT_ONCE, wiring.settings.webhooks_to_private
    poster, secrets = Poster(to_private=to_private, at_once=at_once, whole_up_to=LONGEST_ANSWER), wiring.secrets()
    wiring.at_the_end(poster.close)
    services = Services(downstreams.by_name, poster, pool, wiring.clock, secrets, health=wiring.process_health)
    await until_available(downstreams.refresh, wiring.health)
    return Outside(downstreams, services, poster, secrets)
