"""The ground of integration tests: real services, embedded unless addresses are given, and a fresh database a test."""

import gc
import logging
import os
import sys
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import hypothesis
import pytest
import structlog

from abacus.cli import examples
from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import Pool, together
from abacus.platform.sqs.queue import Client, sqs_client
from abacus.pricing.decide.card import RateCard
from abacus.pricing.kind import CARDS, alone
from tests.support.births import Nursery, opened_nursery
from tests.support.cluster import Servers
from tests.support.databases import Databases, TestDatabase
from tests.support.environment import steady
from tests.support.house import House, unique_settings
from tests.support.logged import card_logged
from tests.support.paths import GOLDEN
from tests.support.processes import count_of, in_processes
from tests.support.processes import pytest_addoption as add_count
from tests.support.queues import quick_queues
from tests.support.receiver import Receiver, receiving
from tests.support.services import Services, how_to_copy
from tests.support.shared_template import Shared, SharedTemplate
from tests.support.turns import leave_to_other_turns
from tests.support.turns import pytest_addoption as add_turn

# Databases come and go by the thousand, hundreds of files each, and some file systems are slow at making files where
# others were just deleted: on memory, where there is enough of it, that costs next to nothing.
_MEMORY = Path("/dev/shm")  # noqa: S108  # each run makes a folder of its own below it
_ENOUGH_BYTES = 4 << 30


def _serves(folder: Path) -> bool:
    """Whether the folder has room, and programs that a test writes there can be run."""
    if not folder.is_dir():
        return False
    volume = os.statvfs(folder)
    return volume.f_bavail * volume.f_frsize > _ENOUGH_BYTES and not volume.f_flag & os.ST_NOEXEC


if "TMPDIR" not in os.environ and _serves(_MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)

# A command of a test runs in a thread, and has an environment of its own for so long; others walk through it meanwhile.
steady()

# Typer sets this variable and removes it again at each command; where it is set already, Typer leaves it there.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")

# Everything is on loopback; a connection that asks for TLS first takes twice as long to open.
os.environ.setdefault("PGSSLMODE", "disable")

# A property says nothing about time, and machines are sometimes busy. A change is judged by the same cases as the one
# before it, and by half as many as `make nightly` searches for new ones with.
hypothesis.settings.register_profile("searching", deadline=None, max_examples=100)
hypothesis.settings.register_profile("abacus", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("abacus")

_TESTS = Path(__file__).parent.resolve()
_OF_SERVICES = frozenset({"services", "cassandra_at"})


def pytest_addoption(parser: pytest.Parser) -> None:
    add_count(parser)
    add_turn(parser)


def pytest_configure(config: pytest.Config) -> None:
    in_processes(config)
    config.pluginmanager.register(SharedTemplate(), SharedTemplate.name)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if not _OF_SERVICES.isdisjoint(fixtures):
            item.add_marker("services")
        if "browser" in fixtures:
            item.add_marker("long")
    _keep_files_of_marks(config, items)
    yield
    leave_to_other_turns(config, items)
    _put_the_longest_first(items, count_of(config))  # of those that are left


def _put_the_longest_first(items: list[pytest.Item], processes: int) -> None:
    """Each process is given one stretch of the list, and others take over tests that it has not begun. So each begins
    with its part of the long tests, those first that may take more time than others, and none is left to the end.
    """
    stretch = len(items) // processes
    long = sorted((item for item in items if item.get_closest_marker("long")), key=_seconds_allowed, reverse=True)
    others = deque(item for item in items if not item.get_closest_marker("long"))
    items.clear()
    for process in range(processes):
        items += long[process::processes]
        items += [others.popleft() for _ in range(min(len(others), stretch * (process + 1) - len(items)))]
    items += others


def _seconds_allowed(item: pytest.Item) -> float:
    """What the test may take, if that is said of itself."""
    timeout = item.get_closest_marker("timeout")
    return float(timeout.args[0]) if timeout is not None else 0.0


def _keep_files_of_marks(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For `.ci/tests-marked`, which looks for few of all tests: to import the others takes each process seconds."""
    cache: pytest.Cache | None = getattr(config, "cache", None)  # a trial of mutants has none
    if cache is not None and [Path(each).resolve() for each in config.args] == [_TESTS]:
        of_marks = {
            mark: sorted({each.nodeid.partition("::")[0] for each in items if each.get_closest_marker(mark)})
            for mark in ("long", "services")
        }
        cache.set("abacus/marked", of_marks)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Modules and tests live to the end of the run: the garbage collector never looks at them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """A command that runs in this process sets up logging to a standard error that is closed when it ends. And the
    log of a worker beside it is not the command's output.
    """
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))
    yield
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


@pytest.fixture(scope="session")
async def common_template(pytestconfig: pytest.Config) -> Shared:
    """The server of databases, and the template on it, which all processes of the run have in common."""
    plugin = pytestconfig.pluginmanager.get_plugin(SharedTemplate.name)
    assert isinstance(plugin, SharedTemplate)
    return await plugin.made()


@pytest.fixture(scope="session")
async def brokers() -> AsyncIterator[EmbeddedStack]:
    """Embedded SQS and Kafka, where `ABACUS_TEST_…` names none."""
    with tempfile.TemporaryDirectory(prefix="abacus-tests-") as directory:
        sqs, kafka = (os.environ.get(f"ABACUS_TEST_{name}") is None for name in ("SQS_ENDPOINT_URL", "KAFKA_BOOTSTRAP"))
        async with EmbeddedStack(Path(directory), postgres=False, sqs=sqs, kafka=kafka) as embedded:
            yield embedded


@pytest.fixture(scope="session")
def services(brokers: EmbeddedStack, common_template: Shared) -> Services:
    """`ABACUS_TEST_…` names real services; the others are embedded."""
    return Services(
        common_template.database_url,
        brokers.sqs_endpoint_url or os.environ["ABACUS_TEST_SQS_ENDPOINT_URL"],
        brokers.kafka_bootstrap or os.environ["ABACUS_TEST_KAFKA_BOOTSTRAP"],
    )


@pytest.fixture(scope="session")
async def servers(services: Services) -> AsyncIterator[Servers]:
    """Those that the databases of the tests lie on."""
    opened = await Servers.of(services.database_url)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def template(common_template: Shared) -> str:
    """A migrated, empty database that each test's own is cloned from."""
    return common_template.template


@pytest.fixture(scope="session")
async def databases(services: Services, servers: Servers, template: str) -> AsyncIterator[Databases]:
    opened = Databases(services, servers, template, await how_to_copy(services))
    yield opened
    await opened.close()


@pytest.fixture
async def database(databases: Databases) -> AsyncIterator[TestDatabase]:
    """A database of this test's own."""
    async with databases.one() as opened:
        yield opened


@pytest.fixture
def database_url(database: TestDatabase) -> str:
    return database.address


@pytest.fixture
async def pool(database: TestDatabase) -> Pool:
    """Connections as the application's role."""
    return await database.pool()


@pytest.fixture(scope="session")
def golden() -> Path:
    return GOLDEN


@pytest.fixture(scope="session")
async def queues(services: Services) -> AsyncIterator[Client]:
    """The queues' service: to make a client for each test takes longer than its queues."""
    async with sqs_client(services.sqs_endpoint_url) as client:
        yield client


@pytest.fixture(scope="session")
async def nursery() -> AsyncIterator[Nursery]:
    """Of the processes that the houses start."""
    async with opened_nursery() as opened:
        yield opened


@pytest.fixture
async def bare_house(services: Services, database_url: str, pool: Pool, queues: Client, nursery: Nursery) -> House:
    """Without a rate card."""
    settings = unique_settings(
        database_url=database_url,
        sqs_endpoint_url=services.sqs_endpoint_url,
        kafka_bootstrap=services.kafka_bootstrap,
    )
    await quick_queues(queues, settings.queue_prefix)
    return House(settings, pool, nursery)


@pytest.fixture(scope="session")
def example_cards() -> list[RateCard]:
    return examples.example_cards()


@pytest.fixture
async def house(bare_house: House, example_cards: list[RateCard]) -> House:
    """All cards are published at once: one by one they take some times as long."""
    store, logged = DocumentStore(bare_house.pool, CARDS), together(*map(card_logged, example_cards))
    now, own = SystemClock().now(), {"approved_by": None}
    await store.publish(example_cards, alone, by="tests", now=now, also=logged, own=own)
    return bare_house


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as opened:
        yield opened
