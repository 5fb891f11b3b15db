"""The CPU of a transaction, stage by stage, in the calculator, the awarder and the relay under load.

py-spy samples each of them from outside a hundred times a second. It is no dependency of ours: install it anywhere
(`.ci/uv pip install --target DIR py-spy`) and have it on the path.
"""

import asyncio
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from benchmarks import load
from benchmarks.cpu_cost import Run
from benchmarks.report import Figure
from benchmarks.services import real_services, rooms
from benchmarks.workbench import Workbench, workbench

SECONDS: Final = 40
WARM_UP_S: Final = 15.0
LEAD_S: Final = 3.0
A_SECOND: Final = 100
TOGETHER: Final = "put together"
REST: Final = "the loop, sockets, and what C does for them"

# A sample belongs to the innermost frame that names a stage. Frames read `function (path/of/file.py:line)`.
STAGES: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "calculator": {
        "read and check the message": ("read_transaction (",),
        "card and tier": ("Issuing._find_cards (", "Issuing._tiers_of (", "asyncpg/"),
        "calculate and explain": ("Calculator.award (",),
        "encode and pack": ("encode_award (", "pack_compressed ("),
        "send to the queue": ("abacus/platform/sqs/queue.py", "botocore/", "aiohttp/"),
        "read the stream, commit": ("abacus/platform/kafka/", "aiokafka/"),
    },
    "awarder": {
        "read and check the envelope": ("decode_envelope (",),
        "decide": ("plan (abacus/ledger/decide/batch.py", "accounts_touched ("),
        "hash": ("chain (abacus/ledger/decide/transfer.py",),
        "talk to Postgres": ("asyncpg/", "abacus/ledger/store/rows.py", "abacus/platform/postgres.py"),
        "receive and delete": ("abacus/platform/sqs/queue.py", "botocore/", "aiohttp/"),
        "count for the metrics": ("Awarder._count (",),
    },
    "relay": {
        "talk to Postgres": ("asyncpg/",),
        "encode the event": ("encode_event (",),
        "choose the partition": ("aiokafka/partitioner.py",),
        "publish": ("abacus/platform/kafka/", "aiokafka/"),
    },
}
_ROOMS: Final = ("abacus/intake/", "abacus/pricing/", "abacus/ledger/")  # folders of ours that name no stage


class Sample(NamedTuple):
    """A stack, the outermost frame first, and how often it was seen."""

    frames: Sequence[str]
    seen: int


async def measure(directory: Path, accounts: int) -> list[Figure]:
    profiler = shutil.which("py-spy")
    if profiler is None:
        raise Refused("py-spy is not on the path: `.ci/uv pip install --target DIR py-spy`, and PATH=DIR/bin:$PATH")
    async with (
        real_services() as services,
        rooms(services, accounts) as settings,
        workbench(settings) as bench,
        bench.workers(dict.fromkeys(STAGES, 1)),
    ):
        async with bench.load(load.arguments("profile", accounts, lead_s=LEAD_S)):
            await bench.measured(WARM_UP_S)
            (run,), profiles = await asyncio.gather(bench.measured(SECONDS), _profiles(bench, profiler, directory))
        await bench.settled()
    return [figure for name, samples in profiles.items() for figure in _figures(name, samples, run)]


async def _profiles(bench: Workbench, profiler: str, directory: Path) -> dict[str, list[Sample]]:
    async def profile(name: str) -> list[Sample]:
        file = directory / name
        options = ["--format", "raw", "--rate", str(A_SECOND), "--duration", str(SECONDS), "--output", str(file)]
        (pid,) = bench.processes(name)
        process = await asyncio.create_subprocess_exec(
            *(profiler, "record", *options, "--pid", str(pid)),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise RuntimeError(f"py-spy could not look at the {name}: it may need the right to trace processes")
        return list(samples_of(file.read_text(encoding="utf-8").splitlines()))

    return dict(zip(STAGES, await asyncio.gather(*map(profile, STAGES)), strict=True))


def samples_of(lines: Iterable[str]) -> Iterator[Sample]:
    for line in lines:
        stack, _, seen = line.rpartition(" ")
        yield Sample(stack.split(";"), int(seen))


def stage_of(frames: Sequence[str], stages: Mapping[str, Sequence[str]]) -> str:
    for frame in reversed(frames):
        for stage, marks in stages.items():
            if any(mark in frame for mark in marks):
                return stage
    return TOGETHER if any(mark in frame for frame in frames for mark in _ROOMS) else REST


def _figures(name: str, samples: Sequence[Sample], run: Run) -> Iterator[Figure]:
    seen = Counter[str]()
    for sample in samples:
        seen[stage_of(sample.frames, STAGES[name])] += sample.seen
    looks = max(1, seen.total())
    yield Figure(f"CPU of a transaction in the {name}", f"{run.us_of(name):.1f} µs", f"{looks:,} looks")
    for stage in (*STAGES[name], TOGETHER, REST):
        share = seen[stage] / looks
        yield Figure(f"… {stage}", f"{run.us_of(name) * share:.1f} µs", f"{share:.0%} of it")
