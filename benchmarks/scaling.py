"""Two and four processes of the calculator and the awarder: from where on more of them do not help, and why."""

from typing import Final

from benchmarks import load
from benchmarks.cpu_cost import Run, together
from benchmarks.report import Figure, rate
from benchmarks.services import real_services, rooms
from benchmarks.workbench import POSTGRES, Workbench, workbench

STEPS: Final = (1, 2, 4)
ROUNDS: Final = 2
SECONDS: Final = 15.0  # of each step in a round
WARM_UP_S: Final = 8.0
LEAD_S: Final = 3.0


async def measure(accounts: int) -> list[Figure]:
    """The steps take turns, so that the machine's load affects each alike."""
    runs: dict[int, list[Run]] = {step: [] for step in STEPS}
    async with real_services() as services, rooms(services, accounts) as settings, workbench(settings) as bench:
        for round_ in range(ROUNDS):
            for step in STEPS:
                async with bench.workers({"calculator": step, "awarder": step, "relay": 1}):
                    runs[step] += await sustained(bench, accounts, f"round{round_}-{step}")
    whole = {step: together(runs[step]) for step in STEPS}
    one = whole[STEPS[0]]
    return [
        Figure(
            f"{step} calculator{'s' * (step > 1)} and {step} awarder{'s' * (step > 1)}, 1 relay",
            f"{rate(run.per_s, 'transactions')}, {run.cpu_us:.0f} µs of CPU each",
            f"{run.per_s / one.per_s:.2f} of one; cores in use: {cores(run)}",
        )
        for step, run in whole.items()
    ]


async def sustained(bench: Workbench, accounts: int, mark: str) -> list[Run]:
    """Under a steady load, which has ended with the call."""
    async with bench.load(load.arguments(mark, accounts, lead_s=LEAD_S)):
        await bench.measured(WARM_UP_S)
        runs = await bench.measured(SECONDS)
    await bench.settled()
    return runs


def cores(run: Run) -> str:
    """How many cores each kind of process used, Postgres' processes together."""
    cores: dict[str, float] = {}
    for name, seconds in run.cpu.items():
        kind = POSTGRES if name.startswith(POSTGRES) else name
        cores[kind] = cores.get(kind, 0.0) + seconds / run.seconds
    return ", ".join(f"{kind} {used:.2f}" for kind, used in sorted(cores.items(), key=lambda each: -each[1]))
