"""A run: every case, one after the other, whatever becomes of the one before."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

from abacus import __version__
from abacus.core.clock import Clock
from abacus.exchanges.conformance.case import Case
from abacus.exchanges.conformance.cases import accounts, cancels, refusals, requests, signatures, statements, transfers
from abacus.exchanges.conformance.kit import Broken, Kit, NotOffered
from abacus.exchanges.decide.conformance import Outcome, Played, Run

CASES: Final[Sequence[Case]] = [
    case
    for module in (accounts, transfers, refusals, cancels, signatures, requests, statements)
    for case in module.CASES.all
]


async def run(kit: Kit, url: str, clock: Clock, tell: Callable[[Played], None]) -> Run:
    """Plays all of them, and tells of each."""
    began_at, all_ = clock.now(), list[Played]()
    async for each in played(kit):
        all_.append(each)
        tell(each)
    return Run(url, f"abacus/{__version__}", began_at, clock.now(), all_)


async def played(kit: Kit) -> AsyncIterator[Played]:
    """Each case, once it is played."""
    for case in CASES:
        began = time.perf_counter()
        outcome, detail = await _outcome(case, kit)
        yield Played(case.name, case.about, outcome, detail, time.perf_counter() - began)


async def _outcome(case: Case, kit: Kit) -> tuple[Outcome, str | None]:
    try:
        await case.play(kit)
    except Broken as fault:
        return Outcome.RED, str(fault)
    except NotOffered as fault:
        return Outcome.SKIPPED, str(fault)
    return Outcome.GREEN, None
