"""The whole run: first each work once without a crash, to see which points it visits; then a crash at each of them."""

import asyncio
import os
import random
import tempfile
import uuid
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

import asyncpg

from abacus.core.errors import Unavailable
from abacus.platform.embedded import EmbeddedStack
from tests.reliability.chaos.crashes.crossing import Stage, crossing_of, is_beside, stage_of
from tests.reliability.chaos.crashes.lane import open_lane, publish_cards
from tests.reliability.chaos.crashes.trial import Outcome, attempt
from tests.reliability.chaos.crashes.work import Work
from tests.support.cluster import Servers
from tests.support.ledgers import make_ledger
from tests.support.services import Services

_TRIES: Final = 3  # where a service does not answer the trial
_CHANCES: Final = 6  # of a worker to come by its point, which is a matter of moments on a busy machine
VISITS: Final = 3  # a point that a work visits only now and then cannot be where its worker dies
VISITS_OF_A_SAMPLE: Final = 2  # most of the time of a sample is that of its visits


class Fate(StrEnum):
    """The outcomes that a crash may have."""

    HELD = "held"
    BROKEN = "broken"  # something was lost, doubled, or told wrongly
    MISSED = "missed"  # the worker did not come by there
    FAILED = "failed"  # the trial itself broke off, several times


class Crash(NamedTuple):
    """A worker that is to be killed at a point, doing this work."""

    work: type[Work]
    point: str


class Verdict(NamedTuple):
    """The outcome of a crash."""

    crash: Crash
    fate: Fate
    faults: tuple[str, ...]
    seconds: float


class BrokenOff(Exception):
    """A service did not answer the trial itself: that says nothing about the workers."""

    def __init__(self, crash: Crash, error: Exception) -> None:
        super().__init__(f"broken off: {type(error).__name__}: {error}")
        self.crash = crash


class Unfit(Exception):
    """A work did not come through without any crash, so it can judge none."""


def crashes_of(visits: Mapping[type[Work], frozenset[str]]) -> list[Crash]:
    """A crash at each point that a work visits."""
    return [Crash(work, point) for work, visited in visits.items() for point in sorted(visited)]


def sample_of(crashes: Sequence[Crash], count: int | None, seed: int) -> Sequence[Crash]:
    """`count` of the crashes, in their order. A point that is not visited this time changes its own place alone."""
    if count is None:
        return crashes
    drawn = {
        crash: random.Random(f"{seed} {crash.work.worker} {crash.work.name} {crash.point}").random()
        for crash in crashes
    }
    chosen = set(sorted(crashes, key=drawn.__getitem__)[:count])
    return [crash for crash in crashes if crash in chosen]


def _missing(work: type[Work], visited: frozenset[str]) -> list[Stage]:
    passed = {stage_of(crossing_of(point)) for point in visited}
    return sorted(work.passes - passed)


class Yard:
    """Lanes side by side on the same services."""

    def __init__(self, services: Services, servers: Servers, template: str, directory: Path, lanes: int) -> None:
        self._services = services
        self._servers = servers
        self._template = template
        self._directory = directory
        self._lanes = lanes
        self._broken_off: Counter[Crash] = Counter()

    async def visits(self, works: Sequence[type[Work]], times: int = VISITS) -> dict[type[Work], frozenset[str]]:
        """The points that each work visits every time. Raises `Unfit`."""
        points: dict[type[Work], frozenset[str]] = {}
        waiting = deque(Crash(work, "") for work in works for _ in range(times))

        def note(crash: Crash, outcome: Outcome) -> None:
            if outcome.faults:
                raise Unfit(f"{crash.work.worker}, {crash.work.name}: {'; '.join(outcome.faults)}")
            on_the_way = frozenset(point for point in outcome.visited if not is_beside(crossing_of(point)))
            points[crash.work] = points.get(crash.work, on_the_way) & on_the_way

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._lanes, len(waiting))):
                    group.create_task(self._work_off(waiting, note))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None
        if missing := [
            f"{work.worker}, {work.name}: {stage}" for work in works for stage in _missing(work, points[work])
        ]:
            raise Unfit(f"a stage is not passed: {'; '.join(missing)}")
        return points

    async def crash(self, crashes: Sequence[Crash], tell: Callable[[Verdict], None]) -> list[Verdict]:
        """The verdict on each crash. A crash whose worker does not come by its point is tried again."""
        verdicts: list[Verdict] = []
        waiting = deque(crashes)
        missed = Counter[Crash]()

        def note(crash: Crash, outcome: Outcome) -> None:
            fate = _fate_of(outcome)
            missed[crash] += fate is Fate.MISSED
            if fate is Fate.MISSED and missed[crash] < _CHANCES:
                waiting.append(crash)
                return
            verdicts.append(Verdict(crash, fate, outcome.faults, outcome.seconds))
            tell(verdicts[-1])

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._lanes, len(crashes))):
                group.create_task(self._work_off(waiting, note))
        return verdicts

    async def _work_off(self, waiting: deque[Crash], note: Callable[[Crash, Outcome], None]) -> None:
        """Try crashes one after the other, in a lane that is given up as soon as something in it is wrong."""
        while waiting:
            crash = waiting.popleft()
            try:
                await self._in_a_lane(crash, waiting, note)
            except BrokenOff as error:
                self._broken_off[error.crash] += 1
                if self._broken_off[error.crash] < _TRIES:
                    waiting.appendleft(error.crash)
                else:
                    note(error.crash, Outcome(died=False, visited=frozenset(), faults=(str(error),), broke_off=True))

    async def _in_a_lane(self, crash: Crash, waiting: deque[Crash], note: Callable[[Crash, Outcome], None]) -> None:
        """Try this crash, then waiting ones while all is well. Raises `BrokenOff` with the crash without an outcome."""
        at_hand: Crash | None = crash
        directory = Path(tempfile.mkdtemp(dir=self._directory))
        try:
            async with open_lane(self._services, self._servers, self._template, directory) as lane:
                while at_hand is not None:
                    outcome = await attempt(lane, at_hand.work, uuid.uuid4().hex[:8], at_hand.point or None)
                    note(at_hand, outcome)
                    at_hand = waiting.popleft() if waiting and not outcome.faults else None
        except (Unavailable, OSError, TimeoutError, asyncpg.PostgresError) as error:
            if at_hand is not None:  # else closing the lane failed, and that judges no crash
                raise BrokenOff(at_hand, error) from error


def _fate_of(outcome: Outcome) -> Fate:
    if outcome.broke_off:
        return Fate.FAILED
    if outcome.faults:
        return Fate.BROKEN
    return Fate.HELD if outcome.died else Fate.MISSED


@asynccontextmanager
async def yard(lanes: int) -> AsyncIterator[Yard]:
    """The run on the services that `ABACUS_TEST_…` names, or on embedded ones where it names none."""
    async with AsyncExitStack() as stack:
        # Not below a folder of its user's own: Postgres runs as another user where this one is root.
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="abacus-crashes-")))
        services = await stack.enter_async_context(_services(directory / "services"))
        servers = await Servers.of(services.database_url)
        stack.push_async_callback(servers.close)
        template = f"abacus_crashes_{uuid.uuid4().hex[:8]}"
        stack.push_async_callback(servers.drop, template)
        await publish_cards(await make_ledger(servers, template))
        await servers.close_off(template)
        yield Yard(services, servers, template, directory, lanes)


@asynccontextmanager
async def _services(directory: Path) -> AsyncIterator[Services]:
    given = [os.environ.get(f"ABACUS_TEST_{name.upper()}") for name in Services._fields]
    database, sqs, kafka = (each is None for each in given)
    async with EmbeddedStack(directory, postgres=database, sqs=sqs, kafka=kafka, durable=False) as embedded:
        started = [getattr(embedded, name) for name in Services._fields]
        yield Services(*(address or str(own) for address, own in zip(given, started, strict=True)))
