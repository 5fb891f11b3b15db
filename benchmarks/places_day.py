"""A day of phones in caches that differ in their keys alone, and an open loop with a peak against a database."""

from pathlib import Path

from benchmarks import places_caches, places_open_loop
from benchmarks.report import Figure


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    return [
        *await places_caches.measure(short=short),
        *await places_open_loop.measure(directory, short=short),
    ]
