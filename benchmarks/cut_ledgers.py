"""Posting to a ledger that is cut into slices beside posting to one that is not, as awarders do, keys entered and all.

Envelopes hold awards of one slice, as calculators fill them; a handful of them are posted together. Where
`ABACUS_BENCH_CITUS_URL` names a database with Citus, slices on its servers are measured in the same run.
"""

import asyncio
import os
import random
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import psutil
import uvloop

from abacus.core.clock import SystemClock
from abacus.intake.awarding.awarder import hands_for
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.platform.postgres import LOOKUPS_BY_KEY, open_pool
from abacus.platform.slices import SliceMap
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
from benchmarks.sliced_database import sliced_database
from benchmarks.workbench import cpu_seconds, listening, with_ended_children
from tests.support.cluster import Servers

CUTS: Final = (1, 8, 32)
WARM_UP: Final = 2  # rounds
AWARDS: Final = 40_000  # a round
ENVELOPE: Final = 40  # as many awards as one holds by its bytes
TOGETHER: Final = 10  # envelopes that an awarder is given at once
WANTED: Final = 0.85
WANTED_CPU: Final = 1.4  # on Citus


class Round(NamedTuple):
    """Seconds, and microseconds of Postgres' processors for each award, with the coordinator's and without."""

    seconds: float
    cpu_us: float
    near_us: float


class Ports(NamedTuple):
    """The servers that have ledgers or slices, and the coordinator of several."""

    near: Sequence[int]
    coordinator: int | None


class Way(NamedTuple):
    """A ledger in so many slices, on one server or on several."""

    slices: int
    on_citus: bool = False

    def __str__(self) -> str:
        if self.slices == 1:
            return "posting to one ledger"
        return f"posting to {self.slices} slices{' on Citus' if self.on_citus else ''}, keys entered before"


WHOLE: Final = Way(1)


class Share(NamedTuple):
    """What one process posts of a round, on a ledger in so many slices."""

    part: Part
    slices: int


async def measure(directory: Path, accounts: int, rounds: int) -> list[Figure]:
    citus = os.environ.get("ABACUS_BENCH_CITUS_URL")
    async with AsyncExitStack() as stack:
        alone = await Servers.of(await stack.enter_async_context(postgres_alone(directory)))
        several = await Servers.of(citus) if citus else None
        ways = [Way(slices) for slices in CUTS] + [Way(slices, on_citus=True) for slices in CUTS[1:] if several]
        urls: dict[Way, str] = {}
        for way in ways:
            servers = alone if several is None or not way.on_citus else several
            urls[way] = await sliced_database(stack, servers, f"abacus_cut_{way.slices}", way.slices)
            async with ledger_pool(urls[way], 1, owner=True) as its_owner, its_owner.acquire() as connection:
                await enter_accounts(connection, MEMBERS, accounts)
        for each in [alone] if several is None else [alone, several]:
            await each.administer("alter system set autovacuum = off", "select pg_reload_conf()", "checkpoint")
            stack.push_async_callback(each.administer, "alter system reset autovacuum", "select pg_reload_conf()")
        coordinator, *others = several.ports if several else [None]
        with processes(AWARDERS) as awarders:
            ports = Ports([*alone.ports, *others], coordinator)
            measured = await asyncio.to_thread(_in_turns, urls, accounts, awarders, ports, rounds)
    return _figures(measured)


def _in_turns(
    urls: dict[Way, str], accounts: int, awarders: Executor, ports: Ports, rounds: int
) -> dict[Way, list[Round]]:
    measured: dict[Way, list[Round]] = {way: [] for way in urls}
    having_slices = [listening()[port] for port in ports.near]
    coordinating = [listening()[ports.coordinator]] if ports.coordinator else []
    for number in range(WARM_UP + rounds):
        for way in urls if number % 2 else reversed(urls):  # none is always the first after another
            shares = [
                Share(Part(urls[way], accounts, number, each, AWARDERS, CONNECTIONS), way.slices)
                for each in range(AWARDERS)
            ]
            there, beside = _cpu(having_slices), _cpu(coordinating)
            seconds = seconds_of(awarders, post, shares)
            if number >= WARM_UP:
                there, beside = _cpu(having_slices) - there, _cpu(coordinating) - beside
                measured[way].append(Round(seconds, (there + beside) / AWARDS * 1e6, there / AWARDS * 1e6))
    return measured


def _cpu(postmasters: Sequence[psutil.Process]) -> float:
    return sum(
        with_ended_children(each) + sum(cpu_seconds(child.pid) for child in each.children()) for each in postmasters
    )


_ledgers: Final[dict[str, PostgresLedger]] = {}  # of this process


def post(share: Share) -> tuple[float, float]:
    part, slices = share
    awards = [each._replace(key=f"{each.key}:{part.round}") for each in awards_of(part, AWARDS)]
    deliveries = iter(batches_of(envelopes_of(awards, slices), TOGETHER))

    async def main() -> tuple[float, float]:
        ledger = _ledgers.get(part.url)
        if ledger is None:
            pool = await open_pool(part.url, size=CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
            ledger = _ledgers[part.url] = PostgresLedger(pool, SystemClock())

        async def hand() -> None:
            for delivery in deliveries:
                await ledger.post([award for envelope in delivery for award in envelope])

        return await timed(hand, hands_for(SliceMap(slices)))

    return _runner().run(main())


@cache
def _runner() -> asyncio.Runner:
    """One for the life of a process, as its connections are: the first statements on a connection are slow."""
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def envelopes_of(awards: Sequence[Award], slices: int) -> list[Sequence[Award]]:
    """In an order of their own, as a queue hands them out; calculators fill them from 2,000 transactions at a time."""
    envelopes: list[Sequence[Award]] = []
    for batch in batches_of(awards, 2000):
        for part in SliceMap(slices).by_slice(batch, lambda award: award.member_id).values():
            envelopes += batches_of(part, ENVELOPE)
    random.Random(len(awards)).shuffle(envelopes)
    return envelopes


def _figures(rounds: dict[Way, list[Round]]) -> list[Figure]:
    figures: list[Figure] = []
    whole = rounds[WHOLE]
    for way, measured in rounds.items():
        ratio = ratio_of([1 / each.seconds for each in whole], [1 / each.seconds for each in measured])
        cpu = ratio_of([each.cpu_us for each in whole], [each.cpu_us for each in measured])
        near = ratio_of([each.cpu_us for each in whole], [each.near_us for each in measured])
        judged = way == Way(8)  # of the goal
        figures.append(
            Figure(
                str(way),
                rate(AWARDS / median(each.seconds for each in measured), "awards"),
                "" if way == WHOLE else f"{ratio} of one ledger",
                f">= {WANTED}" if judged else "",
                ratio is not None and ratio.median >= WANTED if judged else None,
                anywhere=True,
            )
        )
        figures.append(
            Figure(
                "… Postgres' CPU for an award",
                f"{median(each.cpu_us for each in measured):.1f} µs",
                "" if way == WHOLE else f"{cpu} of one ledger",
                anywhere=True,
            )
        )
        if way.on_citus:
            judged = way == Way(8, on_citus=True)
            figures.append(
                Figure(
                    "… of that, without the register of keys at the coordinator",
                    f"{median(each.near_us for each in measured):.1f} µs",
                    f"{near} of one ledger",
                    f"<= {WANTED_CPU}" if judged else "",
                    near is not None and near.median <= WANTED_CPU if judged else None,
                    anywhere=True,
                )
            )
    return figures
