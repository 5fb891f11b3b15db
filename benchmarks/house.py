"""A house that is driven and watched from outside only, whatever its revision: commands, HTTP, the streams, and the
processor time of its processes and of its Postgres.
"""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import urlsplit

from abacus.core.errors import Unavailable
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.settings import Settings
from benchmarks.api import free_port, is_up
from benchmarks.load import Ends
from benchmarks.revision import Tree
from benchmarks.services import PARTITIONS
from benchmarks.workbench import POSTGRES, cpu_seconds, listening, until, with_ended_children

CREW: Final = ("api", "calculator", "awarder", "relay")
TRANSACTIONS: Final = "bench.transactions"
POINTS: Final = "bench.points"

_CARDS: Final = "abacus/cli/examples/cards"
_PARTNER: Final = ("partners", "create", "acme", "--spend", "--requests-per-minute", "1000000", "--json")
_GIVEN: Final = (
    *("database_url", "sqs_endpoint_url", "kafka_bootstrap"),
    *("transactions_topic", "points_topic", "api_port"),
)
_AFTERWARDS_S: Final = 0.2  # in which messages are deleted and positions committed
_STARTED_WITHIN_S: Final = 300.0
_LOG: Final = "workers.log"


class House:
    """The running processes of a revision, with services of their own."""

    def __init__(self, settings: Settings, key: str, processes: Mapping[str, Process], published: Ends) -> None:
        self.settings = settings
        self.key = key
        self._published = published
        self._processes = processes
        self._postgres = listening()[urlsplit(settings.required("database_url")).port or 0]

    async def published(self) -> int:
        return await self._published.count()

    async def has_published(self, number: int) -> None:
        """Wait until so many events are on the points topic, and the work that follows is done. Raises `Unavailable`
        when a process has ended.
        """

        async def reached() -> bool:
            ended = [name for name, process in self._processes.items() if process.returncode is not None]
            if ended:
                raise Unavailable(", ".join(ended), "ended early")
            return await self._published.count() >= number

        await until(reached)
        await asyncio.sleep(_AFTERWARDS_S)

    def cpu(self) -> dict[str, float]:
        """Seconds of processor time so far, by process; Postgres' is that of all its processes."""
        used = {name: cpu_seconds(process.pid) for name, process in self._processes.items()}
        postgres = with_ended_children(self._postgres)
        return used | {POSTGRES: postgres + sum(cpu_seconds(child.pid) for child in self._postgres.children())}


@asynccontextmanager
async def house(tree: Tree, directory: Path) -> AsyncIterator[House]:
    """A house of this revision, on embedded services of this one, until the block ends."""
    async with AsyncExitStack() as stack:
        topics = dict.fromkeys((TRANSACTIONS, POINTS), PARTITIONS)
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka_topics=topics))
        settings = Settings(
            database_url=embedded.database_url,
            sqs_endpoint_url=embedded.sqs_endpoint_url,
            kafka_bootstrap=embedded.kafka_bootstrap,
            transactions_topic=TRANSACTIONS,
            points_topic=POINTS,
            api_port=free_port(),
        )
        key = await _furnish(tree, settings)
        log = stack.enter_context((directory / _LOG).open("wb"))
        processes = {name: await stack.enter_async_context(_worker(tree, settings, name, log)) for name in CREW}
        await _answers(settings.api_port, directory / _LOG)
        published = await stack.enter_async_context(Ends(settings.required("kafka_bootstrap"), POINTS))
        yield House(settings, key, processes, published)


async def _answers(port: int, log: Path) -> None:
    """Wait until the API does. Raises `Unavailable` with the workers' last words when it does not."""
    try:
        async with asyncio.timeout(_STARTED_WITHIN_S):
            await is_up(port)
    except TimeoutError:
        words = await asyncio.to_thread(log.read_text, encoding="utf-8")
        raise Unavailable("the API", f"it does not answer after {_STARTED_WITHIN_S:.0f} s\n{words[-2000:]}") from None


async def _furnish(tree: Tree, settings: Settings) -> str:
    """Make the schema, the queues, the example cards and a partner; return the partner's key."""
    cards = sorted(map(str, (tree.path / _CARDS).glob("*.toml")))
    for command in (("migrate",), ("queues", "ensure"), ("rates", "publish", "--yes", *cards)):
        await _printed(tree, settings, *command)
    return str(json.loads(await _printed(tree, settings, *_PARTNER))["key"])


async def _printed(tree: Tree, settings: Settings, *command: str) -> bytes:
    process = await _started(tree, settings, command, stdout=PIPE, stderr=PIPE)
    printed, errors = await process.communicate()
    if process.returncode:
        raise Unavailable(f"abacus {command[0]}", errors.decode().strip())
    return printed


@asynccontextmanager
async def _worker(tree: Tree, settings: Settings, name: str, log: BinaryIO) -> AsyncIterator[Process]:
    process = await _started(tree, settings, ("worker", name), stdout=log, stderr=log)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _started(
    tree: Tree, settings: Settings, command: Sequence[str], *, stdout: int | BinaryIO, stderr: int | BinaryIO
) -> Process:
    given = {f"ABACUS_{name.upper()}": str(getattr(settings, name)) for name in _GIVEN}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", *command),
        cwd=tree.path,
        env=tree.environment() | given,
        stdout=stdout,
        stderr=stderr,
    )
