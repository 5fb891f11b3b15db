"""The series of the demo: points of campaigns by the minute, and what campaigns and journeys add up by day."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from abacus.cli.demo.counters import KEY_OF_POINTS
from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.core.sources import campaign_source
from abacus.engage.campaigns import day_sums as campaign_days
from abacus.engage.journeys import day_sums as journey_days
from abacus.engage.journeys.decide.ways import Outcome
from abacus.engage.series import house_sums
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.signals.counters.reading.room_sums import key_of
from abacus.signals.counters.reading.types import SeriesLookup
from abacus.signals.counters.types import Grain
from abacus.signals.counters.wiring import reading_desk

_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.1


async def added_up(
    complete: Settings,
    pool: Pool,
    since: datetime,
    points: tuple[str, int],
    journeys: Iterable[str],
) -> Mapping[str, int]:
    """What the slots of each series add up to since then, once the points that a campaign gave since are counted."""
    name, given = points
    of_points = {KEY_OF_POINTS + campaign_source(name): Grain.MINUTE}
    deadline = time.monotonic() + _WITHIN_S
    while sum((await drawn(complete, pool, since, of_points)).values()) < given:
        if time.monotonic() > deadline:
            raise Unavailable("the counter", f"points of {name} are not counted after {_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)
    of_campaign = {key_of(campaign_days.ROOM, name, campaign_days.POINTS): Grain.DAY}
    return await drawn(complete, pool, since, {**of_points, **of_campaign, **of_journeys(journeys)})


def of_journeys(names: Iterable[str]) -> Mapping[str, Grain]:
    """The members who entered each journey, by day."""
    return {key_of(journey_days.ROOM, name, Outcome.ENTERED): Grain.DAY for name in names}


async def drawn(complete: Settings, pool: Pool, since: datetime, keys: Mapping[str, Grain]) -> Mapping[str, int]:
    """What the slots of each series add up to."""
    begin, end = int(since.timestamp()), int(SystemClock().now().timestamp()) + 1
    async with reading_desk(pool, complete, house_sums(pool)) as desk:
        told = await desk.series([SeriesLookup(key, begin, end, grain) for key, grain in keys.items()])
    return {key: sum(map(int, each.values)) for key, each in zip(keys, told, strict=True)}
