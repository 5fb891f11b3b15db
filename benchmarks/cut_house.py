"""From the stream to the points on the real services: one ledger, and one in slices, in turns of one run."""

from contextlib import AsyncExitStack
from typing import Final

from benchmarks.cpu_cost import Run, together
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.scaling import cores, sustained
from benchmarks.services import real_services, rooms
from benchmarks.workbench import Workbench, workbench

WHOLE: Final = 1
CUT: Final = 8
WANTED: Final = 0.85
CREW: Final = {"calculator": 1, "awarder": 1, "relay": 1}


async def measure(accounts: int, rounds: int) -> list[Figure]:
    """Both ledgers lie on the same Postgres, and take turns, so that the machine's load affects each alike."""
    runs: dict[int, list[Run]] = {slices: [] for slices in (WHOLE, CUT)}
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(real_services())
        benches: dict[int, Workbench] = {}
        for slices in runs:
            settings = await stack.enter_async_context(rooms(services, accounts, slices))
            benches[slices] = await stack.enter_async_context(workbench(settings))
        for number in range(rounds):
            for slices, bench in benches.items():
                async with bench.workers(CREW):
                    runs[slices].append(together(await sustained(bench, accounts, f"round{number}-{slices}")))
    return _figures(runs)


def _figures(runs: dict[int, list[Run]]) -> list[Figure]:
    ratio = ratio_of(*([run.per_s for run in runs[slices]] for slices in (WHOLE, CUT)))
    whole, cut = (together(runs[slices]) for slices in (WHOLE, CUT))
    return [
        Figure(
            "from the stream to the points, one ledger",
            f"{rate(whole.per_s, 'transactions')}, {whole.cpu_us:.0f} µs of CPU each",
            f"cores in use: {cores(whole)}",
        ),
        Figure(
            f"… in {CUT} slices, of one ledger in the same run",
            "nothing was measured" if ratio is None else str(ratio),
            f"{rate(cut.per_s, 'transactions')}, {cut.cpu_us:.0f} µs of CPU each; cores in use: {cores(cut)}",
            f">= {WANTED}",
            ratio is not None and ratio.median >= WANTED,
        ),
    ]
