"""The whole house against the plain pipeline (`benchmarks.plainly`), on the same services, in turns."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Final, NamedTuple

from abacus.platform.postgres import open_pool
from abacus.platform.settings import Settings
from benchmarks import load, plainly
from benchmarks.cpu_cost import Run, cpu_figures, together
from benchmarks.report import Figure, rate
from benchmarks.services import real_services, rooms
from benchmarks.workbench import Workbench, workbench

ROUNDS: Final = 2
SECONDS: Final = 20.0  # a round of each
WARM_UP_S: Final = 8.0
LEAD_S: Final = 3.0
WANTED: Final = 15

_OURS: Final[Mapping[str, int]] = {"calculator": 1, "awarder": 1, "relay": 1}
_PLAIN: Final = dict.fromkeys(plainly.WORKERS, 1)


class Side(NamedTuple):
    """One of the two pipelines, and its result."""

    bench: Workbench
    runs: list[Run]


async def measure(accounts: int, rounds: int, seconds: float = SECONDS) -> list[Figure]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(real_services())
        sides: list[Side] = []
        for crew, module in ((_OURS, ("abacus", "worker")), (_PLAIN, ("benchmarks.plainly",))):
            settings = await stack.enter_async_context(rooms(services, accounts))
            await _make_outbox(settings)
            bench = await stack.enter_async_context(workbench(settings))
            await stack.enter_async_context(bench.workers(crew, module=module))
            sides.append(Side(bench, []))
        for round_ in range(rounds):
            for bench, runs in sides:
                async with bench.load(load.arguments(f"round{round_}", accounts, lead_s=LEAD_S)):
                    await bench.measured(min(WARM_UP_S, seconds))
                    runs.extend(await bench.measured(seconds))
                await bench.all_published()
    ours, plain = (together(side.runs) for side in sides)
    ratio, cpu_ratio = ours.per_s / plain.per_s, plain.cpu_us / ours.cpu_us
    return [
        Figure(
            f"the plain way, one message and one database transaction each, {accounts:,} accounts",
            rate(plain.per_s, "transactions"),
            f"the house does {ratio:.1f} times as many, {rate(ours.per_s, 'transactions')}",
            f">= {WANTED} times",
            ratio >= WANTED,
            anywhere=True,
        ),
        Figure(
            "… CPU of a transaction",
            f"{plain.cpu_us:.0f} µs",
            f"{cpu_ratio:.1f} times the house's {ours.cpu_us:.0f} µs",
            f">= {WANTED} times",
            cpu_ratio >= WANTED,
            anywhere=True,
        ),
        *list(cpu_figures(plain, ours, "in the house"))[1:],
    ]


async def _make_outbox(settings: Settings) -> None:
    owner = await open_pool(settings.required("database_url"), size=1, role=None)
    try:
        await owner.execute(plainly.OUTBOX)
    finally:
        await owner.close()
