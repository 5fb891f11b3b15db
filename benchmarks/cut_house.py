"""The whole house on a ledger that is cut into slices, beside one that is not, from the stream to the points."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Final

from benchmarks.cpu_cost import Run, together
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.scaling import cores, sustained
from benchmarks.services import real_services, rooms
from benchmarks.workbench import workbench

CUTS: Final = (1, 8)
CREW: Final = {"calculator": 1, "awarder": 1, "relay": 1}
ROUNDS: Final = 5
WANTED: Final = 0.85


async def measure(accounts: int) -> list[Figure]:
    """The ledgers take turns, so that the machine's load affects each alike."""
    runs: dict[int, list[Run]] = {slices: [] for slices in CUTS}
    async with real_services() as services, AsyncExitStack() as stack:
        benches = {}
        for slices in CUTS:
            settings = await stack.enter_async_context(rooms(services, accounts, slices))
            benches[slices] = await stack.enter_async_context(workbench(settings))
        for round_ in range(ROUNDS):
            for slices, bench in benches.items():
                async with bench.workers(CREW):
                    runs[slices].append(together(await sustained(bench, accounts, f"round{round_}-{slices}")))
    return _figures(runs)


def _figures(runs: Mapping[int, Sequence[Run]]) -> list[Figure]:
    figures: list[Figure] = []
    for slices, each in runs.items():
        ratio = ratio_of([run.per_s for run in runs[1]], [run.per_s for run in each])
        whole, is_cut = together(each), slices > 1
        figures.append(
            Figure(
                f"produced to published, {f'{slices} slices' if is_cut else 'one ledger'}, {len(each)} rounds",
                f"{rate(whole.per_s, 'transactions')}, {whole.cpu_us:.0f} µs of CPU each",
                f"{ratio} of one ledger; cores in use: {cores(whole)}" if is_cut else f"cores in use: {cores(whole)}",
                f">= {WANTED}" if is_cut else "",
                ratio is not None and ratio.median >= WANTED if is_cut else None,
            )
        )
    return figures
