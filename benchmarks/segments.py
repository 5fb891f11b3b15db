"""Segments: the bytes of a large one, the time of a look, and how fast a file is loaded."""

import random
import time
from pathlib import Path
from typing import Final

from pyroaring import FrozenBitMap

from abacus.core.clock import SystemClock
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Pool, open_pool
from abacus.signals.segments.member_files import BATCH, check, member_ids, number, open_members
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.sets import SegmentMoment, SegmentSets
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import How
from benchmarks.report import Figure, rate

MEMBERS: Final = 10_000_000
SEGMENT: Final = 1_000_000
MANY: Final = 100
OF_MANY: Final = 100_000
LOADED: Final = 200_000
LOOKS: Final = 1_000_000
BATCHES: Final = 200
OF_A_BATCH: Final = 500

MOST_BYTES: Final = 1_300_000
LONGEST_LOOK_US: Final = 0.2
LOADS_WANTED: Final = 50_000


async def measure(directory: Path) -> list[Figure]:
    figures = _in_memory()
    file = _file(directory)
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        pool = await open_pool(url, size=2)
        try:
            new, again = await _loaded(pool, file), await _loaded(pool, file)
            unknown, known = await _looked(pool)
        finally:
            await pool.close()
    return [
        *figures,
        Figure(
            f"load of {LOADED:,} members of a CSV file, {BATCH:,} a transaction",
            rate(LOADED / new, "members"),
            "",
            f">= {LOADS_WANTED:,}/s",
            LOADED / new >= LOADS_WANTED,
        ),
        Figure("… all numbered already", rate(LOADED / again, "members"), f"{new / again:.1f} of the first"),
        Figure(
            f"members looked for, {OF_A_BATCH} a batch, none known", rate(BATCHES * OF_A_BATCH / unknown, "members")
        ),
        Figure("… all known", rate(BATCHES * OF_A_BATCH / known, "members"), f"{unknown / known:.0f} of the first"),
    ]


def _in_memory() -> list[Figure]:
    drawn = random.Random(1)
    segment = FrozenBitMap(drawn.sample(range(MEMBERS), SEGMENT))
    stored = len(segment.serialize())
    many = sum(len(FrozenBitMap(drawn.sample(range(MEMBERS), OF_MANY)).serialize()) for _ in range(MANY))
    numbers = drawn.choices(range(MEMBERS), k=LOOKS)
    bare_us = _bare_us(segment, numbers)
    look_us = _look_us(segment, numbers)
    return [
        Figure(
            f"a segment of {SEGMENT:,} out of {MEMBERS:,} members, at random",
            f"{stored / 1e6:.2f} MB",
            "",
            f"<= {MOST_BYTES / 1e6:.2f} MB",
            stored <= MOST_BYTES,
            anywhere=True,
        ),
        Figure(f"{MANY} segments of {OF_MANY:,}", f"{many / 1e6:.1f} MB"),
        Figure(
            "a look into it by number, the loop with it",
            f"{bare_us:.2f} us",
            "",
            f"<= {LONGEST_LOOK_US} us",
            bare_us <= LONGEST_LOOK_US,
        ),
        Figure(
            "a look by the names of the segment and the member", f"{look_us:.2f} us", f"{look_us / bare_us:.1f} of it"
        ),
    ]


def _bare_us(segment: FrozenBitMap, numbers: list[int]) -> float:
    began = time.perf_counter()
    found = sum(1 for number in numbers if number in segment)
    seconds = time.perf_counter() - began
    if not found:
        raise RuntimeError("nobody was found")
    return seconds / LOOKS * 1e6


def _look_us(segment: FrozenBitMap, numbers: list[int]) -> float:
    members = [f"m{number:08}" for number in numbers[: LOOKS // 10]]
    looking = SegmentMoment({"vip": segment}, dict(zip(members, numbers, strict=False)))
    began = time.perf_counter()
    for each in members:
        looking.contains("vip", each)
    return (time.perf_counter() - began) / len(members) * 1e6


def _file(directory: Path) -> Path:
    path = directory / "members.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("member_id\n")
        # Not in the order of members, as another system's table may well come.
        file.writelines(f"m{each * 7919 % LOADED:08}\n" for each in range(LOADED))
    return path


async def _loaded(pool: Pool, path: Path) -> float:
    """Load as the command does, without its start."""
    began = time.monotonic()
    with open_members(path) as rows:
        checked = check(member_ids(rows), print, _unseen)
    with open_members(path) as rows:
        given = await number(member_ids(rows), MemberNumbers(pool).give, checked, _unseen)
    author = Author("benchmark", SystemClock().now())
    changed = await SegmentStore(pool).change("vip", How.LOAD, given, author, country=None)
    if changed.segment.size != LOADED:
        raise RuntimeError(f"the load failed: {changed}")
    return time.monotonic() - began


async def _looked(pool: Pool) -> tuple[float, float]:
    """The seconds of looking for members for the first time, and for the second."""
    sets = SegmentSets(SegmentStore(pool).in_use, MemberNumbers(pool).known)
    sets.use({"vip"})
    await sets.look_for([])
    batches = [
        [("vip", f"m{batch * OF_A_BATCH + place:08}") for place in range(OF_A_BATCH)] for batch in range(BATCHES)
    ]
    seconds = []
    for _ in range(2):
        began = time.monotonic()
        for batch in batches:
            if not all((await sets.look(batch)).values()):
                raise RuntimeError("a member is not found")
        seconds.append(time.monotonic() - began)
    return seconds[0], seconds[1]


def _unseen() -> None:
    """A progress callback that does nothing."""
