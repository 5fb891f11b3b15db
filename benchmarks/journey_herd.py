"""A herd in a journey: what its moves cost, in packs and, for comparison, as a row for each member and branch.

Members go through branches in memory; one of them does something. The classic way keeps a row for each member and
branch until it is looked at, so of eleven rows one does something.
"""

import asyncio
import time
from collections.abc import Awaitable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import psutil

from abacus.core.clock import SystemClock
from abacus.engage.actions.action_store import plan_once
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import MESSAGES, PlannedAction
from abacus.engage.journeys.decide.halts import NO_HALTS
from abacus.engage.journeys.decide.packs import LARGEST, Pack
from abacus.engage.journeys.decide.seat import Arrived, Leaves, Moved, Waits
from abacus.engage.journeys.heard import HeardStore
from abacus.engage.journeys.journeyer import Journeyer
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.pack_rows import put
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Connection, Pool
from benchmarks.workbench import with_ended_children

BRANCHES: Final = 11
CLASSIC: Final = "classic"
ZONE: Final = "Asia/Singapore"
BEGIN: Final = 1  # a wait that only leads to the next one
MORNING: Final = 2  # the branches come after it
_TELLS: Final = 10  # the node of the first branch that does something
_AT_ONCE: Final = 1_000_000
_PAST: Final = datetime(2026, 1, 10, tzinfo=UTC)

_SEATS: Final = """
insert into seat (member_id, journey, visit, member, version, key, country, entered_at, since)
select 'member-' || n, $1, 1, n, 1, 'segment:all@1', 'SG', $2, $2
from generate_series($3::bigint, $4::bigint - 1) n
"""
_CLASSIC: Final = """
create table classic_step (
    id bigint generated always as identity primary key,
    member_id text collate "C" not null, journey text collate "C" not null, visit integer not null,
    branch integer not null, due timestamptz not null
);
grant select, delete, update on classic_step to abacus_app;
create index classic_step_due_id_idx on classic_step (due, id);
"""
_TAKE: Final = """
select id, member_id, visit, branch from classic_step where due <= $1 order by due, id limit 1 for update skip locked
"""
_MORNING: Final = "update pack set due = due - interval '2 days' where journey = $1"
_READ: Final = """
select member from seat where journey = $1 and member_id = $2 and visit = $3 and left_at is null
"""


class Cost(NamedTuple):
    """What some moves of members cost: seconds, and CPU of this process and of Postgres."""

    members: int
    seconds: float
    ours: float
    theirs: float

    @property
    def cpu_s(self) -> float:
        return self.ours + self.theirs

    def plus(self, other: "Cost") -> "Cost":
        """Of both, for the same members."""
        return Cost(self.members, self.seconds + other.seconds, self.ours + other.ours, self.theirs + other.theirs)

    @property
    def us(self) -> float:
        """Of CPU, for a member."""
        return self.cpu_s / self.members * 1e6


class Herd:
    """Members in one journey, from a number on."""

    def __init__(self, pool: Pool, owner: Pool, journey: str, members: range) -> None:
        """`owner` has the rights to prepare what is measured."""
        self._pool = pool
        self._owner = owner
        self.journey = journey
        self.members = members
        self._morning = datetime.now(UTC) + timedelta(days=1)
        self._clock = SystemClock()

    async def sit(self) -> None:
        """Everybody has a seat."""
        for first in range(self.members.start, self.members.stop, _AT_ONCE):
            upto = min(self.members.stop, first + _AT_ONCE)
            await self._owner.execute(_SEATS, self.journey, _PAST, first, upto, timeout=3600)
        await self._owner.execute("vacuum analyze seat", timeout=3600)

    async def wait(self, largest: int = LARGEST) -> None:
        """Everybody waits, and is due at once."""
        async with self._owner.acquire() as connection:
            await put(connection, packs(self.journey, self.members, largest))

    async def make_due(self) -> None:
        """The morning has come."""
        await self._owner.execute(_MORNING, self.journey, timeout=3600)
        await self._owner.execute("vacuum analyze pack", timeout=3600)

    async def left(self) -> int:
        """How many packs wait."""
        return int(await self._owner.fetchval("select count(*) from pack where journey = $1", self.journey))

    async def run(self, *others: str) -> int:
        """All that is due, of other journeys as well; the number of packs."""
        one, stop, done = self._journeyer([self.journey, *others]), asyncio.Event(), 0
        while ran := await one.round(stop):
            done += ran
        return done

    def _journeyer(self, journeys: Sequence[str]) -> Journeyer:
        return Journeyer(
            Mover(self._go, self._clock),
            lambda: journeys,
            HeardStore(self._pool),
            list,
            pool=self._pool,
            clock=self._clock,
            halts=lambda: NO_HALTS,
            health=WorkerHealth("journeyer"),
        )

    async def _go(self, journey: str, arrived: Sequence[Arrived], now: datetime) -> list[Moved]:
        """To the branches tomorrow morning; of these one does something."""
        if arrived[0].node == BEGIN:
            then = Waits(MORNING, 0, self._morning, ZONE)
            return [Moved(each, (BEGIN, MORNING), (), then) for each in arrived]
        ended = Leaves("end")
        return [_branched(journey, each, now, ended) for each in arrived]


class Meter:
    """The CPU of this process and of Postgres."""

    def __init__(self, server: psutil.Process) -> None:
        self._server = server

    @classmethod
    async def of(cls, pool: Pool) -> "Meter":
        server = psutil.Process(await pool.fetchval("select pg_backend_pid()")).parent()
        assert server is not None  # noqa: S101  # the process that started it
        return cls(server)

    async def cost(self, members: int, work: Awaitable[object]) -> Cost:
        """What the work costs, for so many members."""
        theirs, ours, began = self._theirs(), time.process_time(), time.perf_counter()
        await work
        seconds, spent = time.perf_counter() - began, time.process_time() - ours
        return Cost(members, seconds, spent, self._theirs() - theirs)

    def _theirs(self) -> float:
        return with_ended_children(self._server) + sum(map(with_ended_children, self._server.children()))


def packs(journey: str, members: range, largest: int) -> Iterator[Pack]:
    """Full packs of members, one after the other, each due a little later."""
    for place, first in enumerate(range(members.start, members.stop, largest)):
        some = range(first, min(first + largest, members.stop))
        yield Pack(
            journey,
            awaits=False,
            version=1,
            node=BEGIN,
            turn=0,
            zone=ZONE,
            arm=None,
            due=_PAST + timedelta(microseconds=place),
            id=first,
            members=some,
            visits=[1] * len(some),
        )


def _branched(journey: str, arrived: Arrived, now: datetime, ended: Leaves) -> Moved:
    seat = arrived.seat
    for branch in range(BRANCHES):
        if takes(seat.member, branch):
            told = effect(journey, seat.member_id, seat.visit, branch, now)
            return Moved(arrived, (MORNING, _TELLS + branch), (told,), ended)
    raise AssertionError(seat)


def takes(member: int, branch: int) -> bool:
    """Whether the member is one of the branch's."""
    return member % BRANCHES == branch


def effect(journey: str, member_id: str, visit: int, branch: int, now: datetime) -> PlannedAction:
    return PlannedAction(
        member_id=member_id,
        key=f"journey:{journey}:{visit}:{member_id}:{_TELLS + branch}",
        number=0,
        owner_kind="journey",
        owner=journey,
        version=1,
        step=_TELLS + branch,
        variant=None,
        kind=DeedKind.TELL,
        receiver=MESSAGES,
        due_at=now,
        document=b'{"country": "SG", "templates": {"en": "Welcome"}, "fields": {}}',
        event=None,
    )


class Classic:
    """A herd with a row for each member and branch, each run by itself, as queues of jobs do; members have seats."""

    def __init__(self, pool: Pool, owner: Pool, members: range) -> None:
        self._pool = pool
        self._owner = owner
        self._members = members

    async def run(self) -> None:
        """Schedules everybody, and then runs what is due, which is everything."""
        await self._owner.execute(_CLASSIC)
        for first in range(self._members.start, self._members.stop, LARGEST):
            await self._schedule(range(first, min(first + LARGEST, self._members.stop)))
        await self._owner.execute("analyze classic_step")
        while await self._some():
            pass

    async def _schedule(self, members: range) -> None:
        rows = [(f"member-{member}", CLASSIC, 1, branch, _PAST) for member in members for branch in range(BRANCHES)]
        columns = ["member_id", "journey", "visit", "branch", "due"]
        async with self._owner.acquire() as connection:
            await connection.copy_records_to_table("classic_step", records=rows, columns=columns)

    async def _some(self) -> bool:
        """Whether there was one that is due."""
        async with self._pool.acquire() as connection, connection.transaction():
            row = await connection.fetchrow(_TAKE, datetime.now(UTC))
            if row is not None:
                await self._step(connection, *row)
            return row is not None

    async def _step(self, connection: Connection, id_: int, member_id: str, visit: int, branch: int) -> None:
        number = await connection.fetchval(_READ, CLASSIC, member_id, visit)
        if number is not None and takes(number, branch):
            now = datetime.now(UTC)
            await plan_once(connection, [effect(CLASSIC, member_id, visit, branch, now)], now)
        await connection.execute("delete from classic_step where id = $1", id_)
