"""How the relay is put together: transfers and seals go to the points stream, and the log is chained."""

from abacus.ledger.generations.keeper import GenerationKeeper
from abacus.ledger.relay.publish_transfers import lease_of, transfer_relay
from abacus.platform.cluster.prepared import keep_looking
from abacus.platform.following.lease_share import share_of_slices
from abacus.platform.following.together import together
from abacus.platform.health import sub_workers_of
from abacus.platform.slices import MOST, slices_of
from abacus.platform.wiring import Run, Wiring
from abacus.proof.log import log_keeper
from abacus.proof.publish_seals import seal_publisher


async def relay(wiring: Wiring) -> Run:
    topic, clock = wiring.settings.points_topic, wiring.clock
    # One for each slice that is led, for seals, for the log, two for generations, to count processes; two to look
    # servers up and at them.
    pool = await wiring.pool(size=MOST + 7)
    slice_map = await wiring.slice_map(pool)
    wiring.beside(keep_looking(pool))
    sealing, logging, keeping, *relaying = sub_workers_of(wiring.health, 3 + slice_map.slices)
    share = share_of_slices(lease_of(topic), pool, slice_map, wiring.beside)
    relays = [
        transfer_relay(pool, wiring.publisher(), topic, clock, health, schema=each.schema, share=share)
        for each, health in zip(await slices_of(pool), relaying, strict=True)
    ]
    seals, log = seal_publisher(pool, wiring.publisher(), topic, clock, sealing), log_keeper(pool, logging)
    keeper = GenerationKeeper(pool, clock, most=wiring.settings.generation_transfers).leader(pool, keeping)
    return together(*(each.run for each in (*relays, seals, log, keeper)))
