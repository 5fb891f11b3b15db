"""Places: how fast a file is loaded, how soon a process has all, and what the nearest of them cost."""

import asyncio
import csv
import gc
import os
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from abacus.core.clock import SystemClock
from abacus.people.types.person import Actor
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Pool, open_pool
from abacus.process import look_for_garbage_seldom
from abacus.signals.places.decide.country_map import CountryMap, Maps
from abacus.signals.places.decide.opening import Opening
from abacus.signals.places.decide.place_document import Priced
from abacus.signals.places.decide.place_index import ANY, Keep, PlaceIndex, Sought
from abacus.signals.places.decide.point import Point, point
from abacus.signals.places.decide.sphere import metres_between
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.place_directory import PlaceDirectory
from abacus.signals.places.place_files import opened
from abacus.signals.places.place_spool import PAGE, judge, spooling
from benchmarks.memory import mib
from benchmarks.report import Figure, rate

PLACES: Final = 200_000
MERCHANTS: Final = 3_000
CITIES: Final = 300
LOOKS: Final = 5_000
COMPARED: Final = 30
CHANGES: Final = 200
K: Final = 20
RADIUS_M: Final = 5_000

LOADS_WANTED: Final = 20_000
MOST_US: Final = 100.0
MOST_MIB: Final = 150
LONGEST_TURN_MS: Final = 10.0

_MILLIMETRE: Final = 0.001
_BY: Final = Actor("bench@places", None)
_COLUMNS: Final = ("id", "name", "merchant", "brand", "categories", "lat", "lon", "hours")
_HOURS: Final = ("Mo-Su 08:00-22:00", "24/7", "Mo-Fr 09:00-18:00; Sa 10:00-14:00; PH off", "Mo-Su 18:00-03:00")
_CATEGORIES: Final = ("food", "food;pizza", "shop", "rides;taxi")


async def measure(directory: Path) -> list[Figure]:
    """Shops of an island country: a fifth in its capital, the others around its cities, most of few merchants."""
    look_for_garbage_seldom()  # as the command does
    file = directory / "places.csv"
    _write(file)
    async with EmbeddedStack(directory / "stack", sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        pool = await open_pool(url, size=3)
        try:
            loaded, again = await _loaded(pool, file), await _loaded(pool, file)
            index, started = await _started(pool)
            changed_ms = await _changed(pool)
        finally:
            await pool.close()
    return [
        Figure(
            f"load of {PLACES:,} places of a CSV file, {PAGE:,} a transaction",
            rate(PLACES / loaded, "places"),
            "",
            f">= {LOADS_WANTED:,}/s",
            PLACES / loaded >= LOADS_WANTED,
        ),
        Figure("… all there already", rate(PLACES / again, "places"), f"{loaded / again:.1f} of the first"),
        *started,
        *_looks(index),
        Figure("a place is changed, until another process has it, median", f"{changed_ms:.0f} ms"),
    ]


async def _loaded(pool: Pool, file: Path) -> float:
    """Seconds to judge the file and to store what is new."""
    began = time.perf_counter()
    with opened(file) as entries, spooling() as spool:
        judged = judge(entries, Priced({"ID"}, "ID"), spool, _told, lambda: None)
        await PlaceDesk(pool, SystemClock()).load(spool.pages(), judged.countries, _BY)
    return time.perf_counter() - began


async def _started(pool: Pool) -> tuple[PlaceIndex, list[Figure]]:
    gc.collect()
    before, directory = mib(os.getpid()), PlaceDirectory(pool)
    ticking = asyncio.create_task(_longest_turn())
    await asyncio.sleep(0)
    cpu, began = time.process_time(), time.perf_counter()
    await directory.refresh()
    cpu, seconds = time.process_time() - cpu, time.perf_counter() - began
    ticking.cancel()
    longest = await ticking
    gc.collect()
    held = mib(os.getpid()) - before
    return directory.value(), [
        Figure(f"a process reads {PLACES:,} places at its start", f"{seconds:.1f} s", f"{cpu:.1f} s of CPU"),
        Figure(
            "… CPU of the longest turn of its loop meanwhile",
            f"{longest * 1e3:.1f} ms",
            "",
            f"<= {LONGEST_TURN_MS:.0f} ms",
            longest * 1e3 <= LONGEST_TURN_MS,
        ),
        Figure("… memory of the index", f"{held} MiB", "", f"<= {MOST_MIB} MiB", held <= MOST_MIB),
    ]


async def _longest_turn() -> float:
    """Until it is cancelled, in seconds of CPU: other work on the machine is not counted."""
    longest, before = 0.0, time.thread_time()
    try:
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest, before = max(longest, now - before), now
    except asyncio.CancelledError:
        return longest


def _looks(index: PlaceIndex) -> list[Figure]:
    drawn = random.Random(2)
    near = [place.point for place in drawn.sample(list(index), LOOKS)]
    points = [point(lat + drawn.gauss(0, 0.01), lon + drawn.gauss(0, 0.01)) for lon, lat in near]
    opening = Opening(SystemClock().now(), Maps({"ID": CountryMap("ID", "Asia/Jakarta")}))
    wrong = sum(_is_wrong(index, each) for each in points[:COMPARED])
    us = _us(index, points)
    filtered = {
        "… that are open now": _us(index, points, lambda place: opening.is_open(place) is True),
        "… of the largest merchant": _us(index, points, sought=Sought(merchant="m-1")),
        "… of a merchant with a few": _us(index, points, sought=Sought(merchant=f"m-{MERCHANTS - 1}")),
        "… of a category": _us(index, points, sought=Sought(category="pizza")),
    }
    return [
        Figure(
            f"the {K} nearest of {PLACES:,} places within {RADIUS_M // 1000} km",
            f"{us:.0f} us",
            "",
            f"<= {MOST_US:.0f} us",
            us <= MOST_US,
        ),
        *(Figure(name, f"{each:.0f} us", f"{each / us:.1f} of it") for name, each in filtered.items()),
        Figure(
            f"… of {COMPARED} answers other than a look at every place tells",
            str(wrong),
            "",
            "0",
            wrong == 0,
            anywhere=True,
        ),
        Figure("a place is moved in the index", f"{_move_us(index):.0f} us"),
    ]


def _us(index: PlaceIndex, points: Sequence[Point], keep: Keep | None = None, *, sought: Sought = ANY) -> float:
    began = time.process_time()
    for each in points:
        index.nearest(each, K, RADIUS_M, keep, sought=sought)
    return (time.process_time() - began) / len(points) * 1e6


def _is_wrong(index: PlaceIndex, at: Point) -> bool:
    ways = sorted(metres_between(at, place.point) for place in index)
    found = [metres for _, metres in index.nearest(at, K, RADIUS_M)]
    expected = [way for way in ways[:K] if way <= RADIUS_M]
    return len(found) != len(expected) or any(abs(a - b) > _MILLIMETRE for a, b in zip(found, expected, strict=True))


def _move_us(index: PlaceIndex) -> float:
    moved = [place._replace(point=point(place.point[1] + 0.001, place.point[0])) for place in list(index)[:LOOKS]]
    began = time.process_time()
    for each in moved:
        index.put(each)
    return (time.process_time() - began) / len(moved) * 1e6


async def _changed(pool: Pool) -> float:
    """Milliseconds from the call to the moment at which a reader that asks for the version has it."""
    directory, desk = PlaceDirectory(pool), PlaceDesk(pool, SystemClock())
    await directory.refresh()
    some = [place for place, _ in zip(directory.value(), range(CHANGES), strict=False)]
    took: list[float] = []
    for each in some:
        began = time.perf_counter()
        loaded = await desk.load([[each._replace(name=f"{each.name}, changed")]], {each.country: 1}, _BY)
        await directory.at_version(loaded.version)
        took.append(time.perf_counter() - began)
    return sorted(took)[len(took) // 2] * 1e3


def _write(file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as opened_file:
        rows = csv.writer(opened_file)
        rows.writerow(_COLUMNS)
        rows.writerows(_rows())


def _rows() -> Iterator[Sequence[object]]:
    drawn = random.Random(1)
    cities = [(drawn.uniform(-10, 6), drawn.uniform(95, 140)) for _ in range(CITIES)]
    cities += [(-6.2, 106.8)] * (CITIES // 4)
    for number in range(PLACES):
        lat, lon = drawn.choice(cities)
        merchant = int(drawn.paretovariate(0.7)) % MERCHANTS
        at = f"{drawn.gauss(lat, 0.1):.14f}", f"{drawn.gauss(lon, 0.1):.14f}"
        has = f"m-{merchant}", f"b-{merchant}", _CATEGORIES[merchant % 4]
        yield f"shop-{number:06}", f"Shop number {number}", *has, *at, _HOURS[number % 4]


def _told(fault: object) -> None:
    raise RuntimeError(f"a fault in a file of ours: {fault}")
