"""The work of the journeyer: members come in by events, wait, are given things, and leave, each of it once."""

import asyncio
from abc import abstractmethod
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final

import asyncpg

from abacus.core.ids import journey_effect_key
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.platform.postgres import Pool
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.facts import paid
from tests.reliability.chaos.crashes.lane import Lane
from tests.reliability.chaos.crashes.service import ASKED_EACH_TIME, RiskService
from tests.reliability.chaos.crashes.work import Work
from tests.support.running_journeys import run_journey

_DAY: Final = timedelta(days=1)
_ORDERS: Final = ["transactions/transaction.completed"]
_LOOK_EVERY_S: Final = 0.1
_NODES: Final[dict[str, Any]] = {
    "gift": {"do": {"award": {"points": 5}}, "next": "pause"},
    "pause": {"wait": {"for": "1s"}, "next": "hello"},
    "hello": {"do": {"tell": {"en": "Welcome\nThat was your first order."}}, "next": "second"},
    "second": {
        "wait": {
            "for": "5s",
            "event": {"on": _ORDERS, "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "mart"}},
        },
        "next": "thank",
        "otherwise": "remind",
    },
    "thank": {"do": {"award": {"points": 7}}, "next": "again"},
    "again": {"exit": "again"},
    "remind": {"do": {"tell": {"en": "Still there?\nCome back."}}, "next": "once"},
    "once": {"exit": "once"},
}
# Who comes in, why each leaves, and the nodes at which something is done for each.
_WAYS: Final = {
    "ann": ("again", {"gift", "hello", "thank"}),
    "bob": ("once", {"gift", "hello", "remind"}),
    "eve": ("moved_away", {"gift", "hello"}),
}
_SEATS: Final = "select member_id, visit, why from seat where journey = $1"
_AT_SECOND: Final = "select member_id from seat where journey = $1 and node = $2 and left_at is null"
_ACTIONS: Final = "select key from action where owner = $1 order by key"
_LEFT: Final = "select coalesce(sum(cardinality(members)), 0) from journey_trail where journey = $1 and why is not null"
_WAITING: Final = """
select (select count(*) from pack where journey = $1) + (select count(*) from journey_deed where journey = $1)
"""
_ASIDE: Final = """
select (select count(*) from pack_aside where journey = $1)
    + (select count(*) from journey_deed_aside where journey = $1)
"""
_LATE_ONES: Final = ("ann", "bob")
_LATE: Final = "select count(*) from journey_entry_aside where journey = $1"
_FREE: Final = "update journey_entry_aside set due_at = now() where journey = $1 and due_at is not null"
_DROPPED: Final = "update action set refused_at = now() where owner = $1"


class JourneyVisits(Work):
    """An order lets a member in, and comes twice. One member orders again and is thanked, one is timed out, and one
    leaves by an exit amid a wait. What is told to them together is unfolded.
    """

    worker: ClassVar = "journeyer"
    name: ClassVar = "visits"
    passes: ClassVar = frozenset(
        {
            Stage.RECEIVE,
            Stage.DECIDE,
            Stage.BEGIN,
            Stage.LOCK,
            Stage.INSERT,
            Stage.COMMIT,
            Stage.OFFSET_COMMIT,
        }
    )

    def __init__(self, lane: Lane, mark: str) -> None:
        super().__init__(lane, mark)
        self._name = f"visits_{mark}"
        self._orders = 0

    async def lay_out(self) -> None:
        now = datetime.now(UTC)
        document = {
            "name": self._name,
            "country": "SG",
            "timezone": "Asia/Singapore",
            "starts_at": (now - _DAY).isoformat(),
            "ends_at": (now + _DAY).isoformat(),
            "entry": {"on": _ORDERS, "when": _of_vertical("food")},
            "exits": [{"name": "moved_away", "on": _ORDERS, "when": _of_vertical("rides")}],
            "begin": "gift",
            "nodes": _NODES,
        }
        self._journey = await run_journey(self.lane, approved_at=now, **document)
        first = [self._order(who, "food") for who in _WAYS]
        await self.produce(*first, first[0])

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        self._ordering = asyncio.create_task(self._order_again())
        yield

    async def is_done(self) -> bool:
        pool = self.lane.pool
        seats = await pool.fetch(_SEATS, self._name)
        left = [row for row in seats if row["why"] is not None]
        return len(left) == len(_WAYS) and await pool.fetchval(_WAITING, self._name) == 0

    async def is_through(self) -> bool:
        return await self.is_done() and await self.lane.is_read(f"journeyer-{self.lane.settings.transactions_topic}")

    async def more_faults(self) -> list[str]:
        """Faults unless each member was inside once, left as is due, and was given each thing once."""
        self._ordering.cancel()
        with suppress(asyncio.CancelledError):
            await self._ordering
        pool, faults = self.lane.pool, list[str]()
        seats = sorted(tuple(row) for row in await pool.fetch(_SEATS, self._name))
        if seats != [(self._member(who), 1, why) for who, (why, _) in sorted(_WAYS.items())]:
            faults.append(f"the seats are {seats}")
        actions = Counter(row["key"] for row in await pool.fetch(_ACTIONS, self._name))
        due = Counter(self._key(who, node) for who, (_, nodes) in _WAYS.items() for node in nodes)
        if actions != due:
            faults.append(
                f"missing are {sorted((due - actions).elements())}, doubled {sorted((actions - due).elements())}"
            )
        if (left := await pool.fetchval(_LEFT, self._name)) != len(_WAYS):
            faults.append(f"the trail has {left} who left")
        if aside := await pool.fetchval(_ASIDE, self._name):
            faults.append(f"{aside} are set aside")
        await self.lane.owner.execute(_DROPPED, self._name)  # no other work may hand it over
        await JourneyStore(pool).move(self._name, None, Act.END, Change("person:ann", datetime.now(UTC)))
        return faults

    async def _order_again(self) -> None:
        """Once they wait for it: an order that came before would not count."""
        again = {self._member("ann"): ("ann", "mart"), self._member("eve"): ("eve", "rides")}
        second = self._journey.nodes["second"].number
        while again:
            for member in await _members_at(self.lane.pool, self._name, second) & again.keys():
                order = self._order(*again.pop(member))
                await self.produce(order, order)
            await asyncio.sleep(_LOOK_EVERY_S)

    def _order(self, who: str, vertical: str) -> dict[str, Any]:
        """It earns points, whatever comes of it besides."""
        self._orders += 1
        order = paid(self.mark, who, self._orders, vertical=vertical, occurred_at=datetime.now(UTC).isoformat())
        self.earns(order)
        return order

    def _member(self, who: str) -> str:
        return f"{self.mark}-{who}"

    def _key(self, who: str, node: str) -> str:
        return journey_effect_key(self._name, 1, self._member(who), self._journey.nodes[node].number, 0)


class _Late(Work):
    """A service gives no answer at first, so an order of which it would tell waits beside its topic, and is tried
    again.
    """

    worker: ClassVar = "journeyer"
    passes: ClassVar = frozenset(
        {Stage.RECEIVE, Stage.DECIDE, Stage.BEGIN, Stage.INSERT, Stage.COMMIT, Stage.OFFSET_COMMIT}
    )
    paces: ClassVar = {**ASKED_EACH_TIME, "abacus.engage.journeys.waiting_list:_IDLE_S": 0.3}
    gives: ClassVar[str]  # the node at which each member is given points once

    def __init__(self, lane: Lane, mark: str) -> None:
        super().__init__(lane, mark)
        self._members = [f"{mark}-{who}" for who in _LATE_ONES]
        self._orders = 0

    async def lay_out(self) -> None:
        now, self._name = datetime.now(UTC), f"{self.name.replace(' ', '_')}_{self.mark}"
        self._service = RiskService(self.lane, self.mark)
        await self._service.publish(now)
        self._journey = await run_journey(self.lane, approved_at=now, name=self._name, **self.document())
        orders = [self.order(who, "mart") for who in _LATE_ONES]
        await self.produce(*orders, orders[0])

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """The journey, without its name."""

    def risky(self, vertical: str) -> dict[str, Any]:
        """The rule of which the service tells."""
        return {"operator": "and", "conditions": [_of_vertical(vertical), self._service.risky]}

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        async def is_late() -> bool:
            with suppress(asyncpg.PostgresError):  # that has no room for another connection
                return bool(await self.lane.pool.fetchval(_LATE, self._name))
            return False

        async with self._service.back_when(is_late):
            yield

    async def follow_up(self) -> None:
        """What the worker was about to decide is free again, as after five minutes."""
        await self.lane.owner.execute(_FREE, self._name)

    async def is_done(self) -> bool:
        pool = self.lane.pool
        seats = await pool.fetch(_SEATS, self._name)
        left = [row for row in seats if row["why"] is not None]
        return len(left) == len(self._members) and await pool.fetchval(_LATE, self._name) == 0

    async def is_through(self) -> bool:
        return await self.is_done() and await self.lane.is_read(f"journeyer-{self.lane.settings.transactions_topic}")

    async def more_faults(self) -> list[str]:
        """Faults unless each member was inside once, and was given the points once."""
        pool, faults = self.lane.pool, list[str]()
        await self._service.retire()
        seats = sorted(tuple(row) for row in await pool.fetch(_SEATS, self._name))
        if seats != [(each, 1, "through") for each in self._members]:
            faults.append(f"the seats are {seats}")
        gift = self._journey.nodes[self.gives].number
        due = {journey_effect_key(self._name, 1, each, gift, 0) for each in self._members}
        if (actions := [row["key"] for row in await pool.fetch(_ACTIONS, self._name)]) != sorted(due):
            faults.append(f"the actions are {actions}")
        await self.lane.owner.execute(_DROPPED, self._name)  # no other work may hand it over
        await JourneyStore(pool).move(self._name, None, Act.END, Change("person:ann", datetime.now(UTC)))
        return faults

    def order(self, who: str, vertical: str) -> dict[str, Any]:
        """It earns points, whatever comes of it besides."""
        order = paid(self.mark, who, self._orders, vertical=vertical, occurred_at=datetime.now(UTC).isoformat())
        self._orders += 1
        self.earns(order)
        return order


class JourneyEntriesLate(_Late):
    """The order would let a member in."""

    name: ClassVar = "late entries"
    gives: ClassVar = "gift"

    def document(self) -> dict[str, Any]:
        return {
            "entry": {"on": _ORDERS, "when": self.risky("mart")},
            "begin": "gift",
            "nodes": {"gift": {"do": {"award": {"points": 5}}, "next": "through"}, "through": {"exit": "through"}},
        }


class JourneyMovesLate(_Late):
    """Members are inside, and another order would move each of them."""

    name: ClassVar = "late moves"
    gives: ClassVar = "thank"

    def document(self) -> dict[str, Any]:
        return {
            "entry": {"on": _ORDERS, "when": _of_vertical("mart")},
            "begin": "second",
            "nodes": {
                "second": {
                    "wait": {"for": "1h", "event": {"on": _ORDERS, "when": self.risky("rides")}},
                    "next": "thank",
                    "otherwise": "timed_out",
                },
                "thank": {"do": {"award": {"points": 5}}, "next": "through"},
                "through": {"exit": "through"},
                "timed_out": {"exit": "timed_out"},
            },
        }

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        async with super().hindered():
            self._ordering = asyncio.create_task(self._order_again())
            yield

    async def more_faults(self) -> list[str]:
        self._ordering.cancel()
        with suppress(asyncio.CancelledError):
            await self._ordering
        return await super().more_faults()

    async def _order_again(self) -> None:
        """Once they wait for it: an order that came before would not count."""
        waiting, second = {f"{self.mark}-{who}": who for who in _LATE_ONES}, self._journey.nodes["second"].number
        while waiting:
            for member in await _members_at(self.lane.pool, self._name, second) & waiting.keys():
                order = self.order(waiting.pop(member), "rides")
                await self.produce(order, order)
            await asyncio.sleep(_LOOK_EVERY_S)


async def _members_at(pool: Pool, journey: str, node: int) -> set[str]:
    rows: list[asyncpg.Record] = []
    with suppress(asyncpg.PostgresError):  # that has no room for another connection
        rows = await pool.fetch(_AT_SECOND, journey, node)
    return {row["member_id"] for row in rows}


def _of_vertical(vertical: str) -> dict[str, Any]:
    return {"operator": "eq", "lhs": "var.vertical", "rhs": vertical}
