"""How the keeper of tiers is put together."""

from typing import Final

from abacus.platform.following.lease_share import share_of_slices
from abacus.platform.following.together import together
from abacus.platform.health import sub_workers_of
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY
from abacus.platform.slices import MOST, slices_of
from abacus.platform.wiring import Run, Wiring
from abacus.pricing.wiring import cards_in_use
from abacus.programs.tiers.keeper import Keeper
from abacus.programs.tiers.publish_changes import IDLE_S, change_publisher, lease_of
from abacus.programs.tiers.status import POINTS

# One for each slice that is led, one for the keeper, one to count processes, and one to look servers up.
_CONNECTIONS: Final = MOST + 3


async def tierkeeper(wiring: Wiring) -> Run:
    settings, clock, topic = wiring.settings, wiring.clock, wiring.settings.tiers_topic
    # Everything is looked up by key, as in posting.
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    cards = cards_in_use(wiring, pool)
    await until_available(cards.refresh, wiring.health)
    slice_map = await wiring.slice_map(pool)
    reading, *publishing = sub_workers_of(wiring.health, 1 + slice_map.slices)
    keeper = Keeper(pool, cards, clock, reading)
    share, idle_s = share_of_slices(lease_of(topic), pool, slice_map, wiring.beside), slice_map.pause_s(IDLE_S)
    publishers = [
        change_publisher(pool, wiring.publisher(), topic, clock, health, schema=each.schema, share=share, idle_s=idle_s)
        for each, health in zip(await slices_of(pool), publishing, strict=True)
    ]
    return together(
        wiring.following(settings.points_topic, POINTS.group, keeper.handle, reading),
        *(each.run for each in publishers),
    )
