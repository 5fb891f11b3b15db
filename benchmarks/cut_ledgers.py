"""Posting to a ledger that is cut into slices beside posting to one that is not, as awarders do, keys entered and all.

Envelopes hold awards of one slice, as calculators fill them; a handful of them are posted together.
"""

import asyncio
import random
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import psutil
import uvloop

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award import Award
from abacus.platform.migrations import cut, migrate
from abacus.platform.postgres import Pool
from abacus.platform.slicing import Slicing
from benchmarks.accounts import enter_accounts
from benchmarks.posting_rounds import (
    AWARDERS,
    CONNECTIONS,
    MEMBERS,
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
from benchmarks.workbench import cpu_seconds, listening, with_ended_children

CUTS: Final = (1, 8, 32)
ROUNDS: Final = 8
WARM_UP: Final = 2  # rounds
AWARDS: Final = 40_000  # a round
ENVELOPE: Final = 40  # as many awards as one holds by its bytes
TOGETHER: Final = 10  # envelopes that an awarder is given at once
WANTED: Final = 0.85


class Round(NamedTuple):
    """Seconds, and microseconds of Postgres' processors for each award."""

    seconds: float
    cpu_us: float


class Share(NamedTuple):
    """What one process posts of a round, on a ledger in so many slices."""

    part: Part
    slices: int


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with postgres_alone(directory) as url:
        async with ledger_pool(url, 1, owner=True) as owner:
            await owner.execute("alter system set autovacuum = off")  # it would take its CPU from one of them, not all
            await owner.fetchval("select pg_reload_conf()")
            urls = {slices: await _made(owner, url, slices, accounts) for slices in CUTS}
            await owner.execute("checkpoint", timeout=600)
        with processes(AWARDERS) as awarders:
            rounds = await asyncio.to_thread(_in_turns, urls, accounts, awarders)
    return _figures(rounds)


async def _made(owner: Pool, url: str, slices: int, accounts: int) -> str:
    name = f"cut_{slices}"
    await owner.execute(f"create database {name}")
    address = urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    await migrate(address)
    await cut(address, slices)
    async with ledger_pool(address, 1, owner=True) as its_owner, its_owner.acquire() as connection:
        await enter_accounts(connection, MEMBERS, accounts)
    return address


def _in_turns(urls: dict[int, str], accounts: int, awarders: Executor) -> dict[int, list[Round]]:
    rounds: dict[int, list[Round]] = {slices: [] for slices in CUTS}
    postmaster = listening()[urlsplit(urls[1]).port or 0]
    for number in range(WARM_UP + ROUNDS):
        for slices in CUTS if number % 2 else CUTS[::-1]:  # none is always the first after another
            shares = [
                Share(Part(urls[slices], accounts, number, each, AWARDERS, CONNECTIONS), slices)
                for each in range(AWARDERS)
            ]
            cpu = _cpu(postmaster)
            seconds = seconds_of(awarders, post, shares)
            if number >= WARM_UP:
                rounds[slices].append(Round(seconds, (_cpu(postmaster) - cpu) / AWARDS * 1e6))
    return rounds


def _cpu(postmaster: psutil.Process) -> float:
    return with_ended_children(postmaster) + sum(cpu_seconds(child.pid) for child in postmaster.children())


def post(share: Share) -> tuple[float, float]:
    part, slices = share
    awards = [each._replace(key=f"{each.key}:{part.round}") for each in awards_of(part, AWARDS)]
    deliveries = iter(batches_of(envelopes_of(awards, slices), TOGETHER))

    async def main() -> tuple[float, float]:
        async with ledger_pool(part.url, part.connections) as pool:
            ledger = PostgresLedger(pool, SystemClock())

            async def hand() -> None:
                for delivery in deliveries:
                    await ledger.post([award for envelope in delivery for award in envelope])

            return await timed(hand, part.connections)

    return uvloop.run(main())


def envelopes_of(awards: Sequence[Award], slices: int) -> list[Sequence[Award]]:
    """In an order of their own, as a queue hands them out; calculators fill them from 2,000 transactions at a time."""
    envelopes: list[Sequence[Award]] = []
    for batch in batches_of(awards, 2000):
        for part in Slicing(slices).by_slice(batch, lambda award: award.member_id).values():
            envelopes += batches_of(part, ENVELOPE)
    random.Random(len(awards)).shuffle(envelopes)
    return envelopes


def _figures(rounds: dict[int, list[Round]]) -> list[Figure]:
    figures: list[Figure] = []
    whole = rounds[1]
    for slices, measured in rounds.items():
        ratio = ratio_of([1 / each.seconds for each in whole], [1 / each.seconds for each in measured])
        cpu = ratio_of([each.cpu_us for each in whole], [each.cpu_us for each in measured])
        judged = slices == 8  # noqa: PLR2004  # of the goal
        figures.append(
            Figure(
                "posting to one ledger" if slices == 1 else f"posting to {slices} slices, keys entered before",
                rate(AWARDS / median(each.seconds for each in measured), "awards"),
                "" if slices == 1 else f"{ratio} of one ledger",
                f">= {WANTED}" if judged else "",
                ratio is not None and ratio.median >= WANTED if judged else None,
                anywhere=True,
            )
        )
        figures.append(
            Figure(
                "… Postgres' CPU for an award",
                f"{median(each.cpu_us for each in measured):.1f} µs",
                "" if slices == 1 else f"{cpu} of one ledger",
            )
        )
    return figures
