"""A herd in a journey: what its moves cost. Members go through branches in memory, each by the segments that it is in,
and are told something in one of them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import psutil

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.halts import NO_HALTS
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.journey_reader import parse_journey
from abacus.engage.journeys.decide.packs import LARGEST, Pack
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.seat import Parting, Party
from abacus.engage.journeys.deed_actions import DeedActions
from abacus.engage.journeys.facts import JourneySubject, NumberedSegmentFacts
from abacus.engage.journeys.heard import HeardStore
from abacus.engage.journeys.journeyer import Journeyer
from abacus.engage.journeys.mover import Mover, Ran, anywhere
from abacus.engage.journeys.pack_rows import Line, Mark, put
from abacus.engage.journeys.unfolder import Unfolder
from abacus.engage.journeys.walks import Walks
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.names import AnyName
from abacus.signals.segments.sets import Pair
from abacus.signals.segments.types import Members
from benchmarks.workbench import with_ended_children

BRANCHES: Final = 11
ZONE: Final = "Asia/Singapore"
_AT_ONCE: Final = 500_000
PAST: Final = datetime(2026, 1, 10, tzinfo=UTC)

_SEATS: Final = """
insert into seat (member_id, journey, visit, member, version, key, country, entered_at, since)
select 'member-' || n, $1, 1, n, 1, 'segment:all@1', 'SG', $2, $2
from generate_series($3::bigint, $4::bigint - 1) n
"""
_MORNING: Final = "update pack set due = due - interval '2 days' where journey = $1"
_VACUUMED: Final = "select exists(select from pg_stat_activity where backend_type = 'autovacuum worker')"
_REST_S: Final = 600.0
_DECIDED: Final = "select coalesce(sum(cardinality(members)), 0) from journey_deed where journey = $1"


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


def document(name: str) -> dict[str, Any]:
    """Members wait for a minute, and then for the next morning, when most are in one of the segments."""
    parts = range(BRANCHES - 1)
    turnoffs = [
        {"when": {"operator": "eq", "lhs": f"segment.part_{part}", "rhs": True}, "next": f"tell_{part}"}
        for part in parts
    ]
    return {
        "name": name,
        "country": "SG",
        "timezone": ZONE,
        "starts_at": "2026-01-01T00:00:00+08:00",
        "ends_at": "2099-01-01T00:00:00+08:00",
        "entry": {"api": True},
        "begin": "first",
        "nodes": {
            "first": {"wait": {"for": "1m"}, "next": "morning"},
            "morning": {"wait": {"at": "10:00", "zone": "country"}, "next": "which"},
            "which": {"branch": turnoffs, "otherwise": f"tell_{BRANCHES - 1}"},
            **{
                f"tell_{part}": {"do": {"tell": {"en": f"Good morning {part}\nHere is yours"}}, "next": "done"}
                for part in range(BRANCHES)
            },
            "done": {"exit": "through"},
        },
    }


class Segments:
    """One in eleven members is in each segment."""

    def __init__(self, members: int) -> None:
        self._sets = {f"part_{part}": Members(range(part, members, BRANCHES)) for part in range(BRANCHES - 1)}

    async def look(self, pairs: Collection[Pair]) -> dict[Pair, bool]:
        raise NotImplementedError("members are looked for by their numbers")

    async def sets(self, names: Collection[str]) -> Mapping[str, Members]:
        return {name: self._sets[name] for name in names}


class Running:
    """What moves members of journeys with this document, and unfolds what is done for them."""

    def __init__(self, pool: Pool, segments: Segments, journeys: Sequence[str]) -> None:
        self.pool = pool
        self.segments = segments
        self._clock = SystemClock()
        published = {card.scope: PublishedCard(card, 1) for card in example_cards()}
        beside = Publications({}, self._clock.now(), cards=published, segments=AnyName())
        around = JourneyPublications(beside)
        self.journeys = {name: parse_journey(document(name), around).numbered(1, {}) for name in journeys}
        self._versions = ArmedVersions(self._version, lambda: around)
        cards = CardBook(published.values())
        self._cards = lambda: cards
        facts: FactRegistry[JourneySubject] = FactRegistry(NumberedSegmentFacts(segments))
        self._walks = Walks(
            self._versions, facts, tiers=_nothing, cards=self._cards, book=_nothing, halts=lambda: NO_HALTS
        )

    def journeyer(self, *names: str) -> Journeyer:
        return self._journeyer_by(Mover(self._walks, self._clock, anywhere, self._walks.together), *names)

    def _journeyer_by(self, mover: Mover, *names: str) -> Journeyer:
        return Journeyer(
            mover,
            lambda: names,
            HeardStore(self.pool),
            list,
            pool=self.pool,
            clock=self._clock,
            halts=lambda: NO_HALTS,
            health=WorkerHealth("journeyer"),
        )

    def timed(self, name: str) -> "tuple[Journeyer, list[float]]":
        """A journeyer that runs until it is stopped, and how late each member of packs was done, in seconds."""
        timed = _Timed(self._walks, self._clock)
        return self._journeyer_by(timed, name), timed.late_s

    def unfolder(self, *names: str) -> Unfolder:
        health = WorkerHealth("journeyer")
        return Unfolder(self.actions, lambda: names, pool=self.pool, clock=self._clock, health=health)

    @property
    def actions(self) -> DeedActions:
        return DeedActions(self._version, self._versions, self._cards)

    async def _version(self, name: str, _: int) -> Journey:
        return self.journeys[name]

    def begin(self, name: str) -> int:
        return self.journeys[name].nodes["first"].number


class _Timed(Mover):
    """Notes how long after their time members were done."""

    def __init__(self, walks: Walks, clock: SystemClock) -> None:
        super().__init__(walks, clock, anywhere, self._noted)
        self._walks = walks
        self._running: list[datetime] = []
        self.late_s: list[float] = []

    async def run(self, slice_: slices.Slice, line: Line, behind: Mark, upto: datetime, most: int) -> Ran:
        self._running = []
        ran = await super().run(slice_, line, behind, upto, most)
        now = datetime.now(UTC)
        self.late_s += [(now - due).total_seconds() for due in self._running]
        return ran

    async def _noted(self, parties: Sequence[Party], now: datetime) -> Parting:
        self._running += [party.due for party in parties for _ in party.seats]
        return await self._walks.together(parties, now)


async def _nothing(*_: Any) -> Any:
    raise NotImplementedError("no member of the herd asks for it")


class Herd:
    """Members in one journey, from a number on."""

    def __init__(self, running: Running, owner: Pool, journey: str, members: range) -> None:
        """`owner` has the rights to prepare what is measured."""
        self._running = running
        self._owner = owner
        self.journey = journey
        self.members = members

    async def sit(self) -> None:
        """Everybody has a seat."""
        for some in _parts(self.members):
            await self._owner.execute(_SEATS, self.journey, PAST, some.start, some.stop, timeout=3600)
        await self._owner.execute("vacuum analyze seat", timeout=3600)
        # What was prepared is neither written out nor vacuumed while it is measured.
        await self._owner.execute("checkpoint", timeout=3600)
        async with asyncio.timeout(_REST_S):
            while await self._owner.fetchval(_VACUUMED):  # noqa: ASYNC110  # the database knows
                await asyncio.sleep(0.1)

    async def wait(self, largest: int = LARGEST) -> None:
        """Everybody waits, and is due at once."""
        node = self._running.begin(self.journey)
        async with self._owner.acquire() as connection:
            for some in _parts(self.members):
                await put(connection, packs(self.journey, node, some, largest))

    async def flow(self, seconds: float, rate: int, largest: int) -> list[float]:
        """Members are due one pack after the other, so many in a second, while they are moved: how late each was done,
        in seconds.
        """
        begins = datetime.now(UTC) + timedelta(seconds=1)
        waiting = packs(self.journey, self._running.begin(self.journey), self.members, largest)
        step = timedelta(seconds=largest / rate)
        async with self._owner.acquire() as connection:
            await put(connection, (each._replace(due=begins + place * step) for place, each in enumerate(waiting)))
        journeyer, late_s = self._running.timed(self.journey)
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(seconds + 3, stop.set)
        await journeyer.run(stop)
        return late_s

    async def make_due(self) -> None:
        """The morning has come."""
        await self._owner.execute(_MORNING, self.journey, timeout=3600)
        await self._owner.execute("vacuum analyze pack", timeout=3600)

    async def left(self) -> int:
        """How many packs wait."""
        return int(await self._owner.fetchval("select count(*) from pack where journey = $1", self.journey))

    async def decided(self) -> int:
        """For how many members something is entered that is to be done."""
        return int(await self._owner.fetchval(_DECIDED, self.journey, timeout=3600))

    async def run(self, *others: str) -> int:
        """All that is due, of other journeys as well; the number of packs."""
        return await _all_of(self._running.journeyer(self.journey, *others).round)

    async def unfold(self) -> int:
        """All that was decided becomes actions; the number of deeds."""
        return await _all_of(self._running.unfolder(self.journey).round)


def _parts(members: range) -> Iterator[range]:
    for first in range(members.start, members.stop, _AT_ONCE):
        yield range(first, min(members.stop, first + _AT_ONCE))


async def _all_of(round_: Callable[[asyncio.Event], Awaitable[int]]) -> int:
    stop, done = asyncio.Event(), 0
    while some := await round_(stop):
        done += some
    return done


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


def packs(journey: str, node: int, members: range, largest: int) -> Iterator[Pack]:
    """Full packs of members, one after the other, each due a little later."""
    for first in range(members.start, members.stop, largest):
        some = range(first, min(first + largest, members.stop))
        yield Pack(
            journey,
            awaits=False,
            version=1,
            node=node,
            turn=0,
            zone=ZONE,
            arm=None,
            due=PAST + timedelta(microseconds=first),
            id=first,
            members=some,
            visits=[1] * len(some),
        )
