"""Codes of a file, loaded into a pool: encrypted, and passed over where they are there; beside a COPY of such rows."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from abacus.engage.rewards.pools import AT_ONCE, CodeLoader, Loaded, read_codes
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from benchmarks.report import Figure, rate

POOL: Final = "bench_codes"
CODES: Final = 1_000_000
WANTED: Final = 50_000
_SECRET: Final = "enc:v1:bench:" + "x" * 56
_LIKE: Final = "create table bench_code (like reward_code including all)"


async def measure(pool: Pool, settings: Settings, file: Path, number: int = CODES) -> list[Figure]:
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(f"KOPI-{each * 7919 % number:09}\n" for each in range(number))
    plain_s = await _copied(pool, number)
    loader = CodeLoader(pool, Secrets.of(settings.secrets_key))
    first_s, cpu_s, first = await _loaded(loader, file)
    again_s, _, again = await _loaded(loader, file)
    is_right = (first, again) == (Loaded(number, 0), Loaded(0, number))
    return [
        Figure(
            f"{number:,} codes loaded into a pool, encrypted, one process",
            rate(number / first_s, "codes"),
            f"{plain_s / first_s:.2f} of a COPY of such rows; {1e6 * cpu_s / number:.1f} µs of CPU each",
            f">= {WANTED:,}/s",
            number / first_s >= WANTED,
        ),
        Figure("… the same file again", rate(number / again_s, "codes")),
        Figure(
            "… each there once",
            f"{first.new + again.new:,} codes of {number:,}",
            "",
            "all",
            is_right,
            anywhere=True,
        ),
    ]


async def _loaded(loader: CodeLoader, file: Path) -> tuple[float, float, Loaded]:
    """The seconds by the clock, the seconds of this process's CPU, and what was loaded."""
    began, cpu = time.perf_counter(), time.process_time()
    with file.open(encoding="utf-8") as lines:
        loaded = await loader.load(POOL, read_codes(lines), datetime.now(UTC))
    return time.perf_counter() - began, time.process_time() - cpu, loaded


async def _copied(pool: Pool, number: int) -> float:
    """The seconds that a COPY of as many rows takes, batch by batch, into a table with the same indexes."""
    await pool.execute(_LIKE)
    began = time.perf_counter()
    async with pool.acquire() as connection:
        for first in range(0, number, AT_ONCE):
            places = range(first + 1, min(first + AT_ONCE, number) + 1)
            await connection.copy_records_to_table(
                "bench_code", records=_rows(places), columns=("pool", "place", "digest", "secret")
            )
    took = time.perf_counter() - began
    await pool.execute("drop table bench_code")
    return took


def _rows(places: range) -> Iterator[tuple[str, int, bytes, str]]:
    for place in places:
        yield POOL, place, os.urandom(16), _SECRET
