"""Unusual streams: one member receives everything, everything comes twice, a tenth of it is garbage.

A burst of each in turn, against a burst of usual messages in the same round.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from benchmarks import load
from benchmarks.cpu_cost import Run, together
from benchmarks.report import Figure, rate
from benchmarks.services import real_services, rooms
from benchmarks.workbench import Workbench, workbench

MESSAGES: Final = 20_000  # a burst
ROUNDS: Final = 2
POISON: Final = 0.1
WARM_UP: Final = "warm"

USUAL: Final = "usual"
HOT: Final = "one member receives every award"
AGAIN: Final = "all duplicates"
GARBAGE: Final = "a tenth is garbage"

_CREW: Final[Mapping[str, int]] = {"calculator": 1, "awarder": 1, "relay": 1}


async def measure(accounts: int) -> list[Figure]:
    async with (
        real_services() as services,
        rooms(services, accounts) as settings,
        workbench(settings) as bench,
        bench.workers(_CREW),
    ):
        await _burst(bench, WARM_UP, accounts)
        rounds = [await _round(bench, f"round{number}", accounts) for number in range(ROUNDS)]
    whole = {kind: together([round_[kind] for round_ in rounds]) for kind in rounds[0]}
    usual = whole.pop(USUAL)
    return [
        Figure(
            f"a burst of {MESSAGES:,} usual transactions, {accounts:,} accounts",
            rate(usual.per_s, "transactions"),
            f"{usual.cpu_us:.0f} µs of CPU each, without the load's",
        ),
        *(
            Figure(
                f"… {kind}",
                rate(run.per_s, "transactions"),
                f"{run.per_s / usual.per_s:.2f} of usual; {run.cpu_us / usual.cpu_us:.2f} of its CPU",
            )
            for kind, run in whole.items()
        ),
    ]


async def _round(bench: Workbench, mark: str, accounts: int) -> dict[str, Run]:
    now = datetime.now(UTC)
    return {
        USUAL: await _burst(bench, mark, accounts, at=now),
        AGAIN: await _burst(bench, mark, accounts, at=now),
        HOT: await _burst(bench, f"{mark}-hot", accounts, hot=True),
        GARBAGE: await _burst(bench, f"{mark}-garbage", accounts, poison=POISON),
    }


async def _burst(
    bench: Workbench, mark: str, accounts: int, *, at: datetime | None = None, hot: bool = False, poison: float = 0.0
) -> Run:
    arguments = load.arguments(mark, accounts, most=MESSAGES, at=at, hot=hot, poison=poison)
    return await bench.burst(arguments, MESSAGES)
