"""Keeps members' tiers by the points that they earn, and publishes every change on the tiers stream."""

from typing import Final

from abacus.bootstrap import Run, Service, Wiring
from abacus.platform.following.together import together
from abacus.platform.health import sub_workers_of
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.programs.tiers.keeper import Keeper
from abacus.programs.tiers.publish_changes import change_publisher

NEEDS: Final = frozenset({Service.DATABASE, Service.KAFKA})
_CONNECTIONS: Final = 3


async def wire(wiring: Wiring) -> Run:
    settings, clock = wiring.settings, wiring.clock
    # Everything is looked up by key, as in posting.
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    cards = wiring.cards(pool)
    await until_available(cards.refresh, wiring.health)
    reading, publishing = sub_workers_of(wiring.health, 2)
    keeper = Keeper(pool, cards, clock, reading)
    return together(
        wiring.following(settings.points_topic, "tierkeeper", keeper.handle, reading),
        change_publisher(pool, wiring.publisher(), settings.tiers_topic, clock, publishing).run,
    )
