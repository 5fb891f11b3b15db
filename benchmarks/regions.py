"""Regions: how they are read and built, what a look-up costs, and how a new edition comes in force."""

import asyncio
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from abacus.core.clock import SystemClock
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Pool, nothing_else, open_pool
from abacus.signals.places.decide.country_index import build
from abacus.signals.places.decide.country_map import maps_of
from abacus.signals.places.decide.index_bytes import from_bytes, to_bytes
from abacus.signals.places.decide.point import Point, rounded
from abacus.signals.places.decide.region import Region
from abacus.signals.places.decide.region_file import Usual, read_regions
from abacus.signals.places.decide.region_index import RegionIndex
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.places.region_store import Loading, Prepared, RegionStore
from benchmarks.region_examples import net
from benchmarks.regions_in_process import Looked, points
from benchmarks.report import Figure
from tests.support.editions import edition_of

LONGEST_LOOK_US: Final = 3.0
LONGEST_LOOK_OF_MANY_US: Final = 5.0
LONGEST_CHANGE_S: Final = 5.0
SLOWER: Final = 2.0  # answers, while an edition comes in force
COMPARED: Final = 1_000_000  # points, with a library
ON_BORDERS: Final = 100_000
_LOOKS_AT_ONCE: Final = 100
_SOUTH_WEST: Final = (100.0, -5.0)


class Sizes(NamedTuple):
    """A net of as many columns as rows. A region is `size` degrees wide, a side has 2 to the power of `jags` edges."""

    side: int
    size: float
    jags: int

    @property
    def box(self) -> tuple[float, float, float, float]:
        west, south = _SOUTH_WEST
        return west, south, west + self.side * self.size, south + self.side * self.size

    def regions(self) -> list[Region]:
        return list(net(self.side, self.side, south_west=_SOUTH_WEST, size=self.size, jags=self.jags))


USUAL: Final = Sizes(71, 0.1, 4)
MANY: Final = Sizes(317, 0.02, 2)
IN_SHORT: Final = Sizes(12, 0.1, 4)
MANY_IN_SHORT: Final = Sizes(20, 0.02, 2)


async def measure(directory: Path, *, short: bool) -> list[Figure]:
    usual, many = (IN_SHORT, MANY_IN_SHORT) if short else (USUAL, MANY)
    compared, borders = (10_000, 2_000) if short else (COMPARED, ON_BORDERS)
    regions = usual.regions()
    figures = [
        _read(regions),
        *await _looked(directory, usual, regions, LONGEST_LOOK_US),
        *_right(usual, regions, compared, borders),
        *await _looked(directory, many, many.regions(), LONGEST_LOOK_OF_MANY_US),
    ]
    return [*figures, *await _changed(directory, usual, regions)]


def _read(regions: Sequence[Region]) -> Figure:
    features = [
        {
            "type": "Feature",
            "properties": {"id": each.id, "name": each.name, "kind": each.kind},
            "geometry": {"type": "MultiPolygon", "coordinates": each.parts},
        }
        for each in regions
    ]
    written = orjson.dumps({"type": "FeatureCollection", "features": features})
    usual = Usual("SG", maps_of([], {"SG": "Asia/Singapore"}), {})
    began = time.process_time()
    read_regions(written, usual)
    took = time.process_time() - began
    edges = sum(len(each.parts[0][0]) - 1 for each in regions)
    return Figure(f"{len(regions):,} regions with {edges:,} edges: read from GeoJSON and checked, CPU", f"{took:.2f} s")


async def _looked(directory: Path, sizes: Sizes, regions: Sequence[Region], longest_us: float) -> Iterator[Figure]:
    began = time.process_time()
    index = build(regions)
    built = time.process_time() - began
    written = to_bytes(index)
    file = directory / "regions.index"
    file.write_bytes(written)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.regions_in_process", str(file), json.dumps(sizes.box)),
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await process.communicate()
    looked = Looked(*json.loads(said))
    return iter(_figures(f"{len(regions):,} regions", built, len(written), looked, longest_us))


def _figures(what: str, built: float, size: int, looked: Looked, longest_us: float) -> list[Figure]:
    return [
        Figure(f"{what}: the index built, CPU", f"{built:.2f} s"),
        Figure("… its size as bytes", f"{size / 1e6:.1f} MB"),
        Figure("… read by a process, CPU", f"{looked.start_s * 1e3:.0f} ms"),
        Figure("… memory of a process, with what look-ups made", f"{looked.bytes / 2**20:.0f} MiB"),
        Figure(
            "… a look-up, the loop with it",
            f"{looked.look_us:.2f} us",
            "",
            f"<= {longest_us:g} us",
            looked.look_us <= longest_us,
        ),
        Figure("… of a point that is asked for the first time", f"{looked.first_us:.2f} us"),
        Figure("… the nearest region of a point a degree away", f"{looked.nearest_us:,.0f} us"),
    ]


def _right(sizes: Sizes, regions: Sequence[Region], compared: int, borders: int) -> Iterator[Figure]:
    index = RegionIndex({"SG": from_bytes(to_bytes(build(regions)))}, {"SG": 1})
    inner = [each for number, each in enumerate(regions) if _is_inner(number, sizes.side)]
    of_one = sum(len(index.at(each)) == 1 for each in _on_borders(inner, borders))
    yield Figure(
        f"points on borders, of {borders:,}, that lie in one region",
        f"{of_one:,}",
        "",
        "all",
        of_one == borders,
        anywhere=True,
    )
    wrong = _wrong(index, regions, points(sizes.box, compared, seed=3))
    if wrong is None:
        yield Figure("points that lie elsewhere by shapely", "not looked at: shapely is not installed")
    else:
        yield Figure(
            f"points, of {compared:,}, that lie elsewhere by shapely", f"{wrong:,}", "", "0", wrong == 0, anywhere=True
        )


def _is_inner(number: int, side: int) -> bool:
    return 0 < number % side < side - 1 and 0 < number // side < side - 1


def _on_borders(regions: Sequence[Region], count: int) -> Iterator[Point]:
    """Corners, and points that are rounded to the nearest of an edge."""
    drawn = random.Random(4)
    for _ in range(count):
        ring = drawn.choice(regions).parts[0][0]
        at = drawn.randrange(len(ring) - 1)
        (x, y), (end, north) = ring[at], ring[at + 1]
        share = drawn.choice((0.0, drawn.random()))
        yield rounded(x + share * (end - x)), rounded(y + share * (north - y))


def _wrong(index: RegionIndex, regions: Sequence[Region], asked: Sequence[Point]) -> int | None:
    """How many points, none of which lies on a border, are found elsewhere; None without the library."""
    try:
        import shapely  # noqa: PLC0415  # of this check alone, where it is there
    except ImportError:
        return None
    tree = shapely.STRtree(shapely.polygons([shapely.linearrings(each.parts[0][0]) for each in regions]))
    found: list[set[str]] = [set() for _ in asked]
    for point, region in zip(*tree.query(shapely.points(asked), predicate="within").tolist(), strict=True):
        found[point].add(regions[region].id)
    return sum({each.id for each in index.at(point)} != ids for point, ids in zip(asked, found, strict=True))


async def _changed(directory: Path, sizes: Sizes, regions: Sequence[Region]) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        pool = await open_pool(url, size=2)
        try:
            return await _editions(pool, points(sizes.box, 10_000), regions)
        finally:
            await pool.close()


async def _editions(pool: Pool, asked: Sequence[Point], regions: Sequence[Region]) -> list[Figure]:
    load = partial(_load, pool)
    await load(edition_of("SG", regions))
    directory = RegionDirectory(pool)
    await directory.refresh()
    usual = await _answered(directory, asked, asyncio.create_task(asyncio.sleep(1.0)))
    again = edition_of("SG", [*regions[1:], replace(regions[0], id="new")])
    gc.collect()
    gc.freeze()  # shapes, which a process that answers does not have
    began = time.perf_counter()
    await load(again)
    loaded_s = time.perf_counter() - began
    reading = asyncio.create_task(directory.refresh())
    began = time.perf_counter()
    during = await _answered(directory, asked, reading)
    read_s = time.perf_counter() - began
    if directory.value().named("new") is None:
        raise RuntimeError("the edition did not come in force")
    return [
        Figure(f"an edition of {len(regions):,} regions, one of them new: written", f"{loaded_s:.2f} s"),
        Figure(
            "… read by a process that answers meanwhile",
            f"{read_s:.2f} s",
            "",
            f"<= {LONGEST_CHANGE_S:g} s with writing it",
            loaded_s + read_s <= LONGEST_CHANGE_S,
        ),
        Figure(
            f"… {_LOOKS_AT_ONCE} look-ups in a turn of the loop meanwhile, the slowest",
            f"{max(during) * 1e3:.1f} ms",
            f"{max(usual) * 1e3:.1f} ms before",
        ),
        Figure("… the median", f"{_median_us(during):.0f} us", f"{_median_us(usual):.0f} us before"),
    ]


async def _load(pool: Pool, prepared: Prepared) -> None:
    await RegionStore(pool).load(prepared, Loading("login:bench", SystemClock().now(), waits=False), nothing_else)


async def _answered(directory: RegionDirectory, asked: Sequence[Point], until: asyncio.Task[None]) -> list[float]:
    """Seconds of each turn of the loop with look-ups."""
    turns: list[float] = []
    drawn = random.Random(5)
    while not until.done():
        some = drawn.choices(asked, k=_LOOKS_AT_ONCE)
        began = time.perf_counter()
        at = directory.value().at
        for each in some:
            at(each)
        await asyncio.sleep(0)
        turns.append(time.perf_counter() - began)
    await until
    return turns


def _median_us(turns: Sequence[float]) -> float:
    return statistics.median(turns) * 1e6
