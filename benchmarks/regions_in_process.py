"""A process that reads the index of regions and looks points up, as each process does: run as a module, it prints what
that took.
"""

import gc
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psutil

from abacus.signals.places.decide.index_bytes import from_bytes
from abacus.signals.places.decide.point import Point, rounded
from abacus.signals.places.decide.region_index import RegionIndex

LOOKS = 200_000


class Looked(NamedTuple):
    """What a process took for the index and a look-up, and how many bytes more it has with it."""

    start_s: float
    bytes: int
    first_us: float  # of points that were not asked for before
    look_us: float
    nearest_us: float


def points(box: Sequence[float], count: int, seed: int = 2) -> list[Point]:
    west, south, east, north = box
    drawn = random.Random(seed)
    return [(rounded(drawn.uniform(west, east)), rounded(drawn.uniform(south, north))) for _ in range(count)]


def looked(file: Path, box: Sequence[float]) -> Looked:
    asked, far = points(box, LOOKS), points([box[0] - 2, box[1], box[0] - 1, box[3]], 200)
    gc.collect()
    before, began = psutil.Process().memory_info().rss, time.process_time()
    index = RegionIndex({"SG": from_bytes(file.read_bytes())}, {"SG": 1})
    start_s = time.process_time() - began
    first, again = (_each_us(index, asked) for _ in range(2))
    held = psutil.Process().memory_info().rss - before
    began = time.process_time()
    for each in far:
        index.nearest(each)
    return Looked(start_s, held, first, again, (time.process_time() - began) / len(far) * 1e6)


def _each_us(index: RegionIndex, asked: Sequence[Point]) -> float:
    """The loop with it."""
    at, began = index.at, time.process_time()
    for each in asked:
        at(each)
    return (time.process_time() - began) / len(asked) * 1e6


if __name__ == "__main__":
    print(json.dumps(looked(Path(sys.argv[1]), json.loads(sys.argv[2]))))
