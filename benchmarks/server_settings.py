"""What a Postgres server's settings give to a ledger that has grown: the same work under one set of settings after the
other. The grown ledger is filled once, and the server started anew for each set.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from abacus.platform.migrations import migrate
from abacus.platform.settings import Settings
from benchmarks.growth import LONG_S, WITH_TRANSFERS, Size, fill
from benchmarks.posting import post
from benchmarks.posting_rounds import AWARDERS, AWARDS, CONNECTIONS, Part, ledger_pool, processes, seconds_of
from benchmarks.report import Figure, rate
from benchmarks.services import own_database, postgres_alone
from localstack.services import POSTGRES_OF_A_LEDGER

TRANSFERS: Final = 20_000_000
_WARM_UP: Final = 2  # rounds
_ROUNDS: Final = 6
_IN_ALL: Final = _WARM_UP + _ROUNDS
_GROWN: Final = "grown"
_OWN: Final[dict[str, str]] = {
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "5min",
    "wal_compression": "off",
}
_RARE: Final[dict[str, str]] = _OWN | {"shared_buffers": "1GB", "max_wal_size": "16GB", "checkpoint_timeout": "30min"}
_LARGE: Final[dict[str, str]] = {"shared_buffers": "4GB"}
_LZ4: Final[dict[str, str]] = {"wal_compression": "lz4"}


class _Set(NamedTuple):
    """Settings that are tried together."""

    name: str
    settings: Mapping[str, str]


_SETS: Final = (
    _Set("Postgres' own settings", _OWN),
    _Set("1 GB of shared buffers, 16 GB of log between checkpoints", _RARE),
    _Set("… and wal_compression = lz4", _RARE | _LZ4),
    _Set("4 GB of shared buffers, 16 GB of log", _RARE | _LARGE),
    _Set("… and wal_compression = lz4", _RARE | _LARGE | _LZ4),
)


class _Ledgers(NamedTuple):
    """The addresses of one with nothing posted, made anew for each set, and of the grown one."""

    empty: str
    grown: str


class _Done(NamedTuple):
    """Awards posted to a ledger: seconds, and bytes of the server's log."""

    seconds: float
    log: int


async def measure(directory: Path, transfers: int = TRANSFERS) -> list[Figure]:
    figures: list[Figure] = []
    with processes(AWARDERS) as awarders:
        for number, each in enumerate(_SETS):
            settings = {**POSTGRES_OF_A_LEDGER, **each.settings}
            async with postgres_alone(directory, settings) as url, own_database(Settings(database_url=url)) as empty:
                if number == 0:
                    await _fill_once(url, transfers)
                ledgers = _Ledgers(empty.required("database_url"), _named(url, _GROWN))
                few, many = await _posted(ledgers, number * _IN_ALL, awarders)
                figures += _figures(each, transfers, few, many)
    return figures


async def _fill_once(url: str, transfers: int) -> None:
    began = time.monotonic()
    async with ledger_pool(url, 1, owner=True) as owner:
        await owner.execute(f"create database {_GROWN}")
    await migrate(_named(url, _GROWN))
    async with ledger_pool(_named(url, _GROWN), 3, owner=True) as owner:
        await fill(owner, Size(WITH_TRANSFERS, transfers))
    print(f"  {transfers:,} transfers: filled in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


async def _posted(ledgers: _Ledgers, first: int, awarders: Executor) -> tuple[_Done, _Done]:
    """Both take turns. Rounds of the grown ledger are numbered on from set to set: a round posts keys of its own."""
    async with ledger_pool(ledgers.empty, 3, owner=True) as owner:
        await fill(owner, Size(WITH_TRANSFERS))
    async with ledger_pool(ledgers.grown, 1, owner=True) as owner:
        for statement in ("vacuum transfer", "vacuum claim", "vacuum account", "checkpoint"):
            await owner.execute(statement, timeout=LONG_S)
    few, many = _Done(0.0, 0), _Done(0.0, 0)
    for round_ in range(_IN_ALL):
        with_none = await _round(ledgers.empty, round_, awarders)
        with_many = await _round(ledgers.grown, first + round_, awarders)
        if round_ >= _WARM_UP:
            few, many = _both(few, with_none), _both(many, with_many)
    return few, many


def _figures(each: _Set, transfers: int, few: _Done, many: _Done) -> list[Figure]:
    awards = _ROUNDS * AWARDS
    return [
        Figure(each.name, rate(awards / few.seconds, "awards"), f"{few.log / awards:,.0f} bytes of log an award"),
        Figure(
            f"… with {transfers:,} transfers present",
            f"{rate(awards / many.seconds, 'awards')}, {many.log / awards:,.0f} bytes of log",
            f"{many.seconds / few.seconds:.2f} times as long as with none",
        ),
    ]


async def _round(url: str, round_: int, awarders: Executor) -> _Done:
    parts = [
        Part(url, WITH_TRANSFERS, round_, number, AWARDERS, CONNECTIONS, scattered=True) for number in range(AWARDERS)
    ]
    async with _log_of(url) as log:
        seconds = await asyncio.to_thread(seconds_of, awarders, post, parts)
    return _Done(seconds, log[0])


@asynccontextmanager
async def _log_of(url: str) -> AsyncIterator[list[int]]:
    """The bytes of log that the server wrote in the block, when it has ended."""
    written: list[int] = []
    async with ledger_pool(url, 1, owner=True) as owner:
        before = await owner.fetchval("select pg_current_wal_lsn()")
        yield written
        written.append(await owner.fetchval("select (pg_current_wal_lsn() - $1::pg_lsn)::bigint", before))


def _both(one: _Done, other: _Done) -> _Done:
    return _Done(one.seconds + other.seconds, one.log + other.log)


def _named(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))
