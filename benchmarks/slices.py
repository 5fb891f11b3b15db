"""Posting to a ledger in slices beside posting to one that is whole, and the cost of having so many tables.

The same awards for as many accounts in turns: by schemas, by a column, with and without places in the order of commits.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import psutil
import uvloop
from alembic import command

from abacus.platform.migrations import HEAD, alembic_config, migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from benchmarks.posting_rounds import (
    AWARDERS,
    BATCH,
    CONNECTIONS,
    Part,
    awards_of,
    batches_of,
    ledger_pool,
    processes,
    seconds_of,
    timed,
)
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.services import postgres_alone
from benchmarks.slice_layouts import IN_A_SLICE, Apart, SliceLedger, Way, by_slice, make
from benchmarks.workbench import cpu_seconds, listening, with_ended_children

ROUNDS: Final = 6
WARM_UP: Final = 2  # rounds
AWARDS: Final = 51_200  # a round: four full batches of each of 32 slices for each process

PLAIN: Final = Way(Apart.NOTHING, 1)
WAYS: Final = (
    PLAIN,
    Way(Apart.NOTHING, 1, places=True),
    Way(Apart.SCHEMAS, 8),
    Way(Apart.SCHEMAS, 8, led=True),
    Way(Apart.SCHEMAS, 8, places=True),
    Way(Apart.SCHEMAS, 32),
    Way(Apart.COLUMN, 8),
)
WANTED: Final = 0.85

_CATALOG: Final = """
select sum(pg_total_relation_size(oid)) from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r'
"""
_MEMORY: Final = "select sum(total_bytes)::bigint from pg_backend_memory_contexts"
# Keys by sums of bytes scattered over the index, as those of many senders are. Of keys that are there for another
# member, the member comes back.
_REGISTER: Final = 'create table public.key_register (key text collate "C" primary key, member_id text not null)'
_REGISTERED: Final = """
with asked as (select * from unnest($1::text[], $2::text[]) as u (key, member_id)),
    entered as (insert into key_register select key, member_id from asked order by key
        on conflict do nothing returning key)
select a.key, r.member_id from asked a join key_register r on r.key = a.key and r.member_id <> a.member_id
"""
_REPORT: Final = """
select t.kind, a.country, sum(t.points), count(*) from {0}.transfer t
join {0}.account a on a.member_id = t.member_id and a.program = t.program group by 1, 2
"""


class Share(NamedTuple):
    """What one process posts of a round."""

    part: Part
    way: Way


class Turn(NamedTuple):
    """When a process began and ended, and the bytes of memory that each of its sessions had in Postgres."""

    began: float
    ended: float
    session_bytes: float


class Round(NamedTuple):
    """All processes together: seconds, and microseconds of Postgres' processors for each award."""

    seconds: float
    cpu_us: float
    session_bytes: float


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with postgres_alone(directory) as url:
        await migrate(url)
        async with ledger_pool(url, 1, owner=True) as owner:
            await owner.execute(_REGISTER + "; grant select, insert on key_register to abacus_app")
            await owner.execute("alter system set autovacuum = off")  # it would take its CPU from one of them, not all
            await owner.fetchval("select pg_reload_conf()")
            figures = list(await _made(owner, url, accounts))
            await owner.execute("checkpoint", timeout=600)
            with processes(AWARDERS) as awarders:
                rounds = await asyncio.to_thread(_post_in_turns, url, accounts, awarders)
                registering = await asyncio.to_thread(_register_in_turns, url, accounts, awarders)
            return [*figures, *_of_posting(rounds), _of_keys(registering, rounds[PLAIN]), *await _of_reports(owner)]


async def _made(owner: Pool, url: str, accounts: int) -> list[Figure]:
    figures: list[Figure] = []
    async with owner.acquire() as connection:
        for way in {way._replace(led=False): way for way in WAYS}:
            tables, catalog, began = await _tables(connection), await connection.fetchval(_CATALOG), time.monotonic()
            await make(connection, way, accounts)
            seconds = time.monotonic() - began
            if way.apart is not Apart.NOTHING and not way.places:
                figures.append(
                    Figure(
                        f"making the tables of {way}, with {accounts:,} accounts",
                        f"{seconds:.1f} s",
                        f"{await _tables(connection) - tables} tables and indexes,"
                        f" {(await connection.fetchval(_CATALOG) - catalog) / 2**20:.1f} MiB of catalog",
                    )
                )
        began = time.monotonic()
        await connection.execute("create schema migrated_by_itself")
        await asyncio.to_thread(command.upgrade, alembic_config(url, "migrated_by_itself"), HEAD)
        figures.append(
            Figure(
                "all migrations once more, in one more schema",
                f"{time.monotonic() - began:.1f} s",
                f"all tables; a slice needs {len(IN_A_SLICE)} of them",
            )
        )
    return figures


async def _tables(connection: Pool) -> int:
    return int(await connection.fetchval("select count(*) from pg_class where relkind in ('r', 'i')"))


def _post_in_turns(url: str, accounts: int, awarders: Executor) -> dict[Way, list[Round]]:
    rounds: dict[Way, list[Round]] = {way: [] for way in WAYS}
    postmaster = listening()[urlsplit(url).port or 0]
    for number in range(WARM_UP + ROUNDS):
        for way in WAYS if number % 2 else reversed(WAYS):  # no way is always the first after another
            # Ways that share tables post awards of their own.
            round_ = 2 * number + way.led
            shares = [Share(Part(url, accounts, round_, each, AWARDERS, CONNECTIONS), way) for each in range(AWARDERS)]
            cpu = _cpu(postmaster)
            turns = list(awarders.map(post, shares))
            seconds = max(turn.ended for turn in turns) - min(turn.began for turn in turns)
            cpu_us = (_cpu(postmaster) - cpu) / AWARDS * 1e6
            if number >= WARM_UP:
                rounds[way].append(Round(seconds, cpu_us, max(turn.session_bytes for turn in turns)))
    return rounds


def _register_in_turns(url: str, accounts: int, awarders: Executor) -> list[Round]:
    postmaster = listening()[urlsplit(url).port or 0]
    rounds: list[Round] = []
    for number in range(WARM_UP + ROUNDS):
        parts = [Part(url, accounts, number, each, AWARDERS, CONNECTIONS, scattered=True) for each in range(AWARDERS)]
        cpu = _cpu(postmaster)
        seconds = seconds_of(awarders, register, parts)
        rounds.append(Round(seconds, (_cpu(postmaster) - cpu) / AWARDS * 1e6, 0))
    return rounds[WARM_UP:]


def _cpu(postmaster: psutil.Process) -> float:
    return with_ended_children(postmaster) + sum(cpu_seconds(child.pid) for child in postmaster.children())


def post(share: Share) -> Turn:
    part, way = share
    # A round's numbers go on where those of the round before end, by its size.
    awards = [
        each._replace(key=f"{each.key}:{part.round}", fingerprint=f"{part.round:04x}{each.fingerprint[4:]}")
        for each in awards_of(part, AWARDS)
    ]
    batches = iter(by_slice(awards, way.slices, BATCH))

    async def main() -> Turn:
        async with AsyncExitStack() as stack:
            pools: list[Pool] = []
            for schema in way.schemas[:1] if way.led else way.schemas:
                session = {**LOOKUPS_BY_KEY, "search_path": f"{schema}, public"}
                pool = await open_pool(part.url, size=part.connections, settings=session, keeps_nothing=True)
                stack.push_async_callback(pool.close)
                pools.append(pool)
            ledgers = [SliceLedger(pools[number % len(pools)], way, number) for number in range(way.slices)]

            async def hand() -> None:
                for number, batch in batches:
                    await ledgers[number].post(batch)

            began, ended = await timed(hand, part.connections)
            return Turn(began, ended, await _session_bytes(pools[0]))

    return uvloop.run(main())


def register(part: Part) -> tuple[float, float]:
    """Enter keys for their members, before they would be posted."""
    batches = iter(
        batches_of([(f"{each.key}:{part.round}", each.member_id) for each in awards_of(part, AWARDS)], BATCH)
    )

    async def main() -> tuple[float, float]:
        async with ledger_pool(part.url, part.connections) as pool:

            async def hand() -> None:
                for batch in batches:
                    if await pool.fetch(_REGISTERED, *map(list, zip(*batch, strict=True))):
                        raise AssertionError("a key of another member, and every key is new")

            return await timed(hand, part.connections)

    return uvloop.run(main())


async def _session_bytes(pool: Pool) -> float:
    async with pool.acquire() as connection:
        await connection.execute("set role none")  # what sessions need is the server's own business
        return float(await connection.fetchval(_MEMORY))


def _of_posting(rounds: dict[Way, list[Round]]) -> Iterator[Figure]:
    whole = rounds[PLAIN]
    for way, measured in rounds.items():
        per_s = AWARDS / median(round_.seconds for round_ in measured)
        ratio = ratio_of(_rates(whole), _rates(measured))
        cpu = ratio_of([round_.cpu_us for round_ in whole], [round_.cpu_us for round_ in measured])
        judged = way.slices == 8 and not way.led and way.apart is Apart.SCHEMAS  # noqa: PLR2004  # those of the goal
        yield Figure(
            f"posting, {way}",
            rate(per_s, "awards"),
            "" if way is PLAIN else f"{ratio} of one ledger",
            f">= {WANTED}" if judged else "",
            ratio is not None and ratio.median >= WANTED if judged else None,
            anywhere=True,
        )
        yield Figure(
            "… CPU of Postgres for an award, and memory of a session",
            f"{median(round_.cpu_us for round_ in measured):.1f} µs,"
            f" {median(round_.session_bytes for round_ in measured) / 2**20:.1f} MiB",
            "" if way is PLAIN else f"{cpu} of one ledger's CPU",
        )


def _of_keys(registering: Sequence[Round], posting: Sequence[Round]) -> Figure:
    cpu_us = median(round_.cpu_us for round_ in registering)
    return Figure(
        f"entering keys with their members before posting, {BATCH} a statement",
        f"{rate(AWARDS / median(round_.seconds for round_ in registering), 'keys')}, {cpu_us:.1f} µs of Postgres' CPU",
        f"{cpu_us / median(round_.cpu_us for round_ in posting):.2f} of an award's CPU",
    )


def _rates(rounds: Sequence[Round]) -> list[float]:
    return [AWARDS / round_.seconds for round_ in rounds]


async def _of_reports(owner: Pool) -> list[Figure]:
    """Points by kind and country over all transfers: a statement a slice, one after the other."""
    seconds: dict[Way, float] = {}
    for way in (PLAIN, Way(Apart.SCHEMAS, 8), Way(Apart.SCHEMAS, 32), Way(Apart.COLUMN, 8)):
        transfers = 0
        for schema in way.schemas:
            await owner.execute(f"vacuum analyze {schema}.transfer", timeout=600)
            await owner.execute(f"vacuum analyze {schema}.account", timeout=600)
        began = time.monotonic()
        for schema in way.schemas:
            transfers += sum(row["count"] for row in await owner.fetch(_REPORT.format(schema), timeout=600))
        seconds[way] = (time.monotonic() - began) / transfers * 1e6
    return [
        Figure(
            f"sums over a million transfers, {way}",
            f"{each:.2f} s",
            "" if way is PLAIN else f"{each / seconds[PLAIN]:.2f} of one ledger",
        )
        for way, each in seconds.items()
    ]
