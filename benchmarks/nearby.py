"""What is near a point: one process with 5,000 regions, 200,000 places and 20,000 offers, also while regions change."""

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from abacus.cli.house.stack import make_ready
from abacus.core.clock import SystemClock
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import Pool, nothing_else, open_pool
from abacus.platform.settings import Settings
from abacus.signals.places.decide.region import Region
from abacus.signals.places.place_store import PlaceStore
from abacus.signals.places.region_store import Loading, Prepared, RegionStore
from benchmarks import nearby_examples
from benchmarks.callers import entered_partner
from benchmarks.nearby_examples import COUNTRY, SIDE
from benchmarks.nearby_in_process import READY
from benchmarks.offer_asking import put_these_in_force
from benchmarks.pipeline import environment
from benchmarks.report import Figure, rate
from tests.support.editions import edition_of

PLACES: Final = 200_000
OFFERS: Final = 20_000
SECONDS: Final = 10.0
WANTED_PER_CORE: Final = 4_000
WANTED_P99_MS: Final = 10
MOST_MIB: Final = 500
WANTED_IN_FORCE_S: Final = 5
MOST_SLOWER: Final = 2
_AFTER: Final = 0.5  # of the time for which it is asked
_PAGE: Final = 20_000


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    places, offers, seconds = (20_000, 2_000, 2.0) if short else (PLACES, OFFERS, SECONDS)
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False))
        settings = Settings(database_url=embedded.database_url, sqs_endpoint_url=embedded.sqs_endpoint_url)
        await make_ready(settings)
        pool = await open_pool(settings.required("database_url"), size=2, role=None)
        stack.push_async_callback(pool.close)
        key = await entered_partner(pool, awards=True, may_use_offers=True)
        await _laid_out(pool, places)
        await put_these_in_force(pool, nearby_examples.offers(offers, places))
        before = edition_of(COUNTRY, nearby_examples.regions(1))
        after = edition_of(COUNTRY, [_renamed(each) for each in nearby_examples.regions(2)])
        await _in_force(pool, before)
        return _figures(places, offers, await _asked(pool, settings, key, seconds, after))


async def _asked(pool: Pool, settings: Settings, key: str, seconds: float, after: Prepared) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.nearby_in_process", key, str(seconds)),
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None  # noqa: S101  # it is a pipe
    found: dict[str, Any] = {}
    async for line in process.stdout:
        if line.strip() == READY.encode():
            await asyncio.sleep(_AFTER * seconds)
            await _in_force(pool, after)
            found["told"] = time.time()
        elif line.startswith(b"{"):
            found |= json.loads(line)
    await process.wait()
    return found


def _figures(places: int, offers: int, found: dict[str, Any]) -> list[Figure]:
    asked, changed = found["asked"], found["changed"]
    per_core, in_force_s = 1e6 / asked["us"], changed["seen"] - found["told"]
    slower = changed["p99_ms"] / asked["p99_ms"]
    return [
        Figure(
            f"nearby in the process, {SIDE * SIDE:,} regions, {places:,} places, {offers:,} offers",
            f"{rate(per_core, 'requests')} a core, {asked['us']:.0f} µs of CPU",
            f"{found['hits']:.1%} of offers at places were there",
            f">= {WANTED_PER_CORE:,}/s a core",
            per_core >= WANTED_PER_CORE,
        ),
        Figure(
            "… one after the other",
            f"p50 {asked['p50_ms']:.2f} ms, p99 {asked['p99_ms']:.2f} ms, longest {asked['most_ms']:.1f} ms",
            "",
            f"p99 < {WANTED_P99_MS} ms",
            asked["p99_ms"] < WANTED_P99_MS,
        ),
        Figure("… of a member", f"{found['members']['us']:.0f} µs of CPU", f"p99 {found['members']['p99_ms']:.2f} ms"),
        Figure(
            "categories in the process",
            f"{rate(1e6 / found['categories']['us'], 'requests')} a core, {found['categories']['us']:.0f} µs of CPU",
            f"p99 {found['categories']['p99_ms']:.2f} ms",
        ),
        Figure(
            "all regions are replaced, until answers have them",
            f"{in_force_s:.1f} s",
            "",
            f"< {WANTED_IN_FORCE_S} s",
            bool(changed["seen"]) and in_force_s < WANTED_IN_FORCE_S,
        ),
        Figure(
            "… nearby meanwhile",
            f"p99 {changed['p99_ms']:.2f} ms, longest {changed['most_ms']:.1f} ms",
            f"p99 {slower:.1f} times that before",
            f"<= {MOST_SLOWER} times",
            slower <= MOST_SLOWER,
        ),
        Figure("start", f"{found['started_s']:.1f} s"),
        Figure("memory", f"{found['mib']} MiB", "", f"<= {MOST_MIB} MiB", found["mib"] <= MOST_MIB),
    ]


async def _laid_out(pool: Pool, number: int) -> None:
    made, store = list(nearby_examples.places(number)), PlaceStore(pool)
    for first in range(0, number, _PAGE):
        await store.enter(made[first : first + _PAGE], SystemClock().now())
    await pool.execute("vacuum analyze place")


async def _in_force(pool: Pool, prepared: Prepared) -> None:
    loading = Loading("person:bench", datetime.now(UTC), waits=False)
    await RegionStore(pool).load(prepared, loading, nothing_else)


def _renamed(region: Region) -> Region:
    """With an id that no region had before."""
    return replace(region, id=region.id.replace("zone", "area"))
