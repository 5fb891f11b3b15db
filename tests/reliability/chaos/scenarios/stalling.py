"""Postgres is silent while phones ask what is near them: what is on offer there changes before, by the clock meanwhile,
and afterwards, and each answer is right or says that it is degraded.
"""

import asyncio
import time
from collections.abc import Mapping
from datetime import timedelta
from random import Random
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from tests.reliability.chaos.ground import READY_WITHIN_S
from tests.reliability.chaos.needs import Need
from tests.reliability.chaos.scenarios.phones import Phones, Shown, Truth
from tests.reliability.chaos.scenarios.scenario import Scenario, Stage
from tests.support.on_offer import put_on_offer
from tests.support.on_the_map import load_places, load_regions, shop_at, square
from tests.support.ports import free_ports
from tests.support.shop import new_partner

_SETTLED_S: Final = 2.0
_BEFORE_S: Final = 24.0  # what is kept by then is to be refreshed while Postgres is silent
_AFTER_S: Final = 8.0
_SEEN_WITHIN_S: Final = 1.0
_REGIONS_WITHIN_S: Final = 5.0  # other regions are looked up for all places
_CLOCKS_S: Final = 0.25
_POINT: Final = (1.5, 103.49)
_CENTRE: Final = ("centre", 103.0, 103.5)
_EAST: Final = ("east", 103.5, 104.0)


async def _play(stage: Stage, _: Random) -> None:
    ground, stall_s = stage.ground, stage.plan.overload_s
    pool, (port,) = ground.pool, free_ports(1)
    key = await new_partner(pool, "phones", may_use_offers=True)
    await load_regions(pool, square(*_CENTRE), square(*_EAST))
    await load_places(pool, shop_at("quay", 103.45), shop_at("mall", 103.55))
    await _offer(pool, "lunch", "centre", "2")
    ground.crew.hire("places", told={"ABACUS_PLACES_PORT": str(port)})
    await ground.crew.ready(READY_WITHIN_S)
    await stage.send(stage.third(0))
    phones, truths = Phones(f"http://127.0.0.1:{port}", key, _POINT), [Truth(_shown(quay=["lunch"]))]
    async with phones.asking():
        await asyncio.sleep(_SETTLED_S)
        from_s, silent_s = time.monotonic(), time.monotonic() + _BEFORE_S
        turn_s, turns_at = silent_s + stall_s / 2, SystemClock().now() + timedelta(seconds=_BEFORE_S + stall_s / 2)
        await _offer(pool, "fleeting", "centre", "3", ends_at=turns_at.isoformat())
        await _offer(pool, "coming", "centre", "4", starts_at=turns_at.isoformat())
        truths.append(Truth(_shown(quay=["lunch", "fleeting"]), from_s, time.monotonic() + _SEEN_WITHIN_S))
        truths.append(Truth(_shown(quay=["lunch", "coming"]), turn_s - _CLOCKS_S, turn_s + _CLOCKS_S))
        stage.hold("offers are there before Postgres is silent", if_=time.monotonic() < silent_s - _SEEN_WITHIN_S)
        await asyncio.sleep(silent_s - time.monotonic())
        ground.proxies.postgres.silence()
        try:
            await asyncio.sleep(stall_s)
        finally:
            ground.proxies.postgres.speak()
        from_s = time.monotonic()
        await load_regions(pool, square("centre", 103.0, 103.6), square("east", 103.6, 104.0))
        shown = _shown(quay=["lunch", "coming"], mall=["lunch", "coming"])
        truths.append(Truth(shown, from_s, time.monotonic() + _REGIONS_WITHIN_S))
        await asyncio.sleep(_AFTER_S)
    stage.seen["s without Postgres"] = round(stall_s)
    stage.seen.update(phones.outcomes(truths))
    stage.faults += phones.faults(truths)


async def _offer(pool: Pool, name: str, region: str, off: str, **fields: Any) -> None:
    """In force from now on, for everybody."""
    where = {"scope": {"regions": [region]}, "limits": {"unlimited": True}, **fields}
    await put_on_offer(pool, name, {"amount_off": off}, approved_at=SystemClock().now(), **where)


def _shown(**offers: list[str]) -> Shown:
    everywhere: Mapping[str, list[str]] = {"quay": [], "mall": [], **offers}
    return {place: frozenset(names) for place, names in everywhere.items()}


CACHE_STALL: Final = Scenario(
    "cache-stall",
    "phones ask ten times a second what is near them; Postgres is silent for a minute, in which what is kept has to"
    " be refreshed and an offer takes another's place by the clock; regions change right after it",
    _play,
    most=3_000,
    needs=frozenset({Need.PROXIES}),
)
