"""A process that lets a segment into a journey: `python -m tests.engage.journeys.waving_process DATABASE`."""

import asyncio
import sys
from typing import Final

from abacus.engage.journeys.expiry_waves import ExpiryWaves
from abacus.engage.journeys.segment_waves import SegmentWaves
from abacus.engage.journeys.wave_gate import WaveGate
from abacus.engage.journeys.waves import LEASE, Waves
from abacus.platform.following.leader import Leader
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import open_pool
from abacus.pricing.decide.book import CardBook
from tests.engage.campaigns.offers import CARDS
from tests.engage.journeys.examples import journey, nodes
from tests.engage.journeys.stage import Stage

PAGE: Final = 40  # members
HERD: Final = journey(
    entry={"segment": "regulars"},
    re_entry={"again": "after_leaving", "at_most": 9},
    **nodes("gift", gift={"do": {"award": {"points": 5}}, "next": "done"}),
)


async def main(database_url: str) -> None:
    pool = await open_pool(database_url, size=6, keeps_nothing=True)
    stage, cards = Stage(pool, HERD), CardBook(CARDS.values())
    gate = WaveGate(stage.gate, stage.late)
    segments = SegmentWaves(gate, PAGE, pool=pool, clock=stage.clock)
    expiries = ExpiryWaves(gate, cards=lambda: cards, pool=pool, clock=stage.clock)
    waves = Waves(lambda: stage.running, segments, expiries, stage.clock)
    leader = Leader(
        *(pool, LEASE, waves.step, WorkerHealth("journeyer")), idle_s=0.01, standby_s=0.01, prepare=waves.begin
    )
    await leader.run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
