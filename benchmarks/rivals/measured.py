"""The same awards posted to this ledger and to others: rate, p99, bytes, and what is left after `kill -9`.

All are posted to in turns, by as many processes, for as long. What an issuer gives is drawn for each grant.
"""

import argparse
import asyncio
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.posting_rounds import AWARDERS, processes
from benchmarks.report import Figure, rate
from benchmarks.rivals.chosen import named, not_named
from benchmarks.rivals.killed import Aftermath, kill
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.pgledger import PgLedger
from benchmarks.rivals.port import Rival, Work
from benchmarks.rivals.rounds import Pace, Turns, together
from benchmarks.services import postgres_alone

# How many times as many we want to post, by the issuers among which grants are drawn.
ISSUERS: Final = {1: ("one issuer", 30), 100: ("a hundred issuers", 7)}


class Size(NamedTuple):
    """How much is posted."""

    members: int
    rounds: int
    seconds: float  # of a round
    warm_up_s: float
    killed_after: int  # grants acknowledged


WHOLE: Final = Size(members=100_000, rounds=3, seconds=8.0, warm_up_s=3.0, killed_after=10_000)
SHORT: Final = Size(members=10_000, rounds=1, seconds=1.0, warm_up_s=0.2, killed_after=1_000)


class Posted(NamedTuple):
    """What one ledger did with grants from so many issuers; its bytes are those of a grant."""

    rival: Rival
    issuers: int
    pace: Pace
    bytes: float | None


async def measure(directory: Path, chosen: argparse.Namespace) -> list[Figure]:
    async with postgres_alone(directory) as server:
        size = SHORT if chosen.short else WHOLE._replace(members=chosen.accounts // 10)
        return [*await compare(Ours(server), named(chosen, server), size), *not_named(chosen)]


async def compare(ours: Rival, rivals: Sequence[Rival], size: Size) -> list[Figure]:
    """Our ledger comes first in each turn, and in the table."""
    work = Work(size.members, max(ISSUERS))
    with processes(AWARDERS) as posters:
        posted = await _posted([ours, *rivals], work, size, posters)
    figures = [figure for sides in posted.values() for figure in _beside(sides)]
    for rival in (ours, *rivals):
        figures += _after(rival, await _killed(rival, size), ours=rival is ours)
    return figures


async def _posted(rivals: Sequence[Rival], work: Work, size: Size, posters: Executor) -> dict[int, list[Posted]]:
    async with AsyncExitStack() as stack:
        turns = [Turns(rival, await stack.enter_async_context(rival.room(work)), posters) for rival in rivals]
        return {issuers: await _from_so_many(turns, work._replace(issuers=issuers), size) for issuers in ISSUERS}


async def _from_so_many(turns: Sequence[Turns], work: Work, size: Size) -> list[Posted]:
    """The machine's load affects all alike."""
    paces: list[list[Pace]] = [[] for _ in turns]
    before = [await _size(each) for each in turns]
    warming = [await asyncio.to_thread(each.post, work, size.warm_up_s) for each in turns]
    for _ in range(size.rounds):
        for each, its in zip(turns, paces, strict=True):
            its.append(await asyncio.to_thread(each.post, work, size.seconds))
    after = [await _size(each) for each in turns]
    return [
        Posted(
            each.rival,
            work.issuers,
            together(its),
            None if late is None or early is None else (late - early) / together([warm, *its]).grants,
        )
        for each, its, warm, early, late in zip(turns, paces, warming, before, after, strict=True)
    ]


async def _size(turns: Turns) -> int | None:
    async with turns.room.opened(1) as ledger:
        return await ledger.size()


def _beside(posted: Sequence[Posted]) -> Iterator[Figure]:
    ours = posted[0]
    for each in posted:
        yield from _figures(each, ours)


def _figures(each: Posted, ours: Posted) -> Iterator[Figure]:
    rival, is_ours = each.rival, each is ours
    named_issuers, wanted = ISSUERS[each.issuers]
    times = ours.pace.per_s / each.pace.per_s
    judged = isinstance(rival, PgLedger)
    yield Figure(
        f"{rival.name}, {named_issuers}, {_way(rival)}",
        rate(each.pace.per_s, "awards"),
        "" if is_ours else f"Abacus posts {times:.1f} times as many",
        f">= {wanted} times" if judged else "",
        times >= wanted if judged else None,
    )
    p99_s, ours_s = each.pace.p99_s, ours.pace.p99_s
    a_call = "an award" if rival.a_call == 1 else f"a call of {rival.a_call}"
    yield Figure(
        f"… p99 of {a_call}",
        f"{p99_s * 1000:.1f} ms",
        "" if is_ours or rival.a_call != ours.rival.a_call else f"{p99_s / ours_s:.1f} times Abacus'",
    )
    if each.bytes is None:
        yield Figure("… bytes of an award on disk", "not told")
    else:
        beside = "" if is_ours or not ours.bytes else f"{each.bytes / ours.bytes:.1f} times Abacus'"
        yield Figure("… bytes of an award on disk", f"{each.bytes:,.0f}", beside)


def _way(rival: Rival) -> str:
    accounts = "one account" if rival.accounts == 1 else "two accounts"
    return f"{rival.a_call} a call, {AWARDERS} x {rival.connections} connections; a transfer changes {accounts}"


async def _killed(rival: Rival, size: Size) -> Aftermath:
    work = Work(size.members, max(ISSUERS))
    async with rival.room(work) as room:
        return await kill(rival, room, work, max(1, size.killed_after // rival.a_call))


def _after(rival: Rival, left: Aftermath, *, ours: bool) -> Iterable[Figure]:
    """Ours has to keep all and double none on any machine; of others it is told."""

    def kept(name: str, value: str, *, good: bool, wanted: str = "0", beside: str = "") -> Figure:
        return Figure(name, value, beside, wanted, good, anywhere=True) if ours else Figure(name, value, beside)

    sums, twice = left.sums, left.twice + left.twice_if_all
    issuers = "" if sums.issuers is None else f", issuers {sums.issuers:,}"
    yield kept(
        f"{rival.name}, its poster killed by SIGKILL: acknowledged and not there",
        f"{left.lost:,} of {left.acknowledged:,}",
        good=not left.lost,
        beside=f"{left.kept:,} of {left.under_way:,} under way are there",
    )
    yield kept(
        "… there twice, once what was not acknowledged was sent again; once all was",
        f"{left.twice:,}; {left.twice_if_all:,}",
        good=not twice,
    )
    yield kept(
        "… sums that have to agree",
        "agree" if sums.agree else "do not agree",
        good=sums.agree,
        wanted="agree",
        beside=f"members {sums.members:,}, transfers {sums.transfers:,}{issuers}",
    )
