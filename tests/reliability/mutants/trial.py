"""Trying mutants: each is put into a copy of the tree, its tests run there, and the copy is put right again."""

import asyncio
import compileall
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any, Final, NamedTuple, Self

from abacus.platform.embedded import EmbeddedStack
from tests.reliability.mutants.mutant import Mutant

ROOT: Final = Path(__file__).parents[3]
_NURSERY: Final = Path(__file__).with_name("nursery.py")
_TREES: Final = ("abacus", "workers", "alembic", "localstack", "tests")


class Fate(StrEnum):
    """The fates that a mutant may have."""

    KILLED = "killed"  # one of its tests failed
    SURVIVED = "survived"  # all of its tests passed
    BROKEN = "broken"  # its tests could not be run, which proves nothing


class Verdict(NamedTuple):
    """The fate of a mutant; `by` is the test that killed it, or what went wrong, and `because` how that test failed."""

    mutant: Mutant
    fate: Fate
    by: str
    because: str = ""


class Unfit(Exception):
    """The tests do not pass as the code stands, so they can judge no mutant."""


class Bench:
    """A copy of the tree, and a nursery for its trials."""

    def __init__(self, copy: Path, environment: dict[str, str]) -> None:
        self._copy = copy
        self._environment = environment

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._lay_out)
        self._nursery = await asyncio.create_subprocess_exec(
            sys.executable,
            str(_NURSERY),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**20,
            cwd=self._copy,
            env=self._environment,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._nursery.stdin is not None:
            self._nursery.stdin.close()
        await self._nursery.wait()

    async def judge(self, mutant: Mutant) -> Verdict:
        """Raises `Lost`."""
        place = self._copy / mutant.file
        whole = place.read_text(encoding="utf-8")
        place.write_text(mutant.of(whole), encoding="utf-8")
        try:
            told = await self._run(mutant.tests)
        finally:
            place.write_text(whole, encoding="utf-8")
        if told.get("killed_by"):
            return Verdict(mutant, Fate.KILLED, told["killed_by"], told["because"])
        if told.get("trouble"):
            return Verdict(mutant, Fate.BROKEN, told["trouble"])
        return Verdict(mutant, Fate.SURVIVED, f"{told['passed']} tests passed")

    async def pass_unchanged(self, tests: Iterable[str]) -> None:
        """Raises `Unfit`."""
        told = await self._run(sorted(set(tests)))
        if fault := told.get("killed_by") or told.get("trouble"):
            log = (self._copy / "trial.log").read_text(encoding="utf-8", errors="replace")
            raise Unfit(f"{log}\nwithout any change, this fails: {fault}")

    async def _run(self, tests: Sequence[str]) -> dict[str, Any]:
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(json.dumps({"copy": str(self._copy), "tests": list(tests)}).encode() + b"\n")
        answer = await self._nursery.stdout.readline()
        report: dict[str, Any] = json.loads(answer or b'{"trouble": "the nursery is gone"}')
        return report

    def _lay_out(self) -> None:
        for tree in _TREES:
            shutil.copytree(ROOT / tree, self._copy / tree, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", self._copy)
        # Compiled once for all trials. By hash: a file's time says too little when it changes twice within a second.
        compileall.compile_dir(
            self._copy / "abacus", quiet=1, workers=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH
        )


@asynccontextmanager
async def benches(number: int) -> AsyncIterator[list[Bench]]:
    """So many benches, on the same services. Postgres is that of `ABACUS_TEST_DATABASE_URL`, where there is one; all
    others end with the benches.
    """
    # Not below a folder of its user's own: Postgres runs as another user where this one is root.
    with tempfile.TemporaryDirectory(prefix="abacus-mutants-") as name:
        given = os.environ.get("ABACUS_TEST_DATABASE_URL")
        services = EmbeddedStack(Path(name, "services"), postgres=given is None, durable=False)
        async with services, AsyncExitStack() as stack:
            environment = {
                **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
                "ABACUS_TEST_DATABASE_URL": given or str(services.database_url),
                "ABACUS_TEST_SQS_ENDPOINT_URL": str(services.sqs_endpoint_url),
                "ABACUS_TEST_KAFKA_BOOTSTRAP": str(services.kafka_bootstrap),
            }
            copies = [Path(name, f"copy-{place}") for place in range(number)]
            yield [await stack.enter_async_context(Bench(copy, environment)) for copy in copies]


async def try_all(mutants: Sequence[Mutant], number: int, tell: Callable[[Verdict], None]) -> list[Verdict]:
    """The verdict on each mutant, in order, tried on so many benches. Raises `Lost` and `Unfit`."""
    for mutant in mutants:
        mutant.of_file(ROOT)
    waiting = iter(enumerate(mutants))
    verdicts: dict[int, Verdict] = {}

    async def work(bench: Bench) -> None:
        for place, mutant in waiting:
            verdicts[place] = await bench.judge(mutant)
            tell(verdicts[place])

    async with benches(number) as made:
        await made[0].pass_unchanged(test for mutant in mutants for test in mutant.tests)
        await asyncio.gather(*map(work, made))
    return [verdicts[place] for place in range(len(mutants))]
