"""The journeys of the demo, of a bakery: members are welcomed, and thanked or reminded; quiet members are brought back
until they buy; and members with points are greeted, each in one of eleven ways.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from abacus.cli.demo.two_people import APPROVER, EDITOR, approvals_of
from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.core.sources import Agent, login_source
from abacus.documents.decide.states import Status
from abacus.documents.store import DocumentStore
from abacus.engage.journeys.decide.examples import come_back, new_year, welcome
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.entry_desk import EntryDesk
from abacus.engage.notify.renderer import rendering
from abacus.ledger.store.key_search import claims_of
from abacus.platform import slices
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.sql import Statement
from abacus.signals.events.decide.message import encode_event, partition_key
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.events.types import Event
from abacus.signals.events.wiring import built_in_sources

_BAKERY: Final = "demo-bakery"
_BREAD: Final = "bread.ordered"
_CAKE: Final = "cake.ordered"
_SOURCE: Final[Mapping[str, Any]] = {
    "source": _BAKERY,
    "senders": ["demo"],
    "types": {_BREAD: {"pieces": "integer"}, _CAKE: {"pieces": "integer"}},
}
WELCOME: Final = "demo_welcome"
_BACK: Final = "demo_come_back"
_GREETINGS: Final = "demo_greetings"
_PATIENCE: Final = "6s"  # for a second order, and for members who are brought back
_SOON: Final = {"for": "2s"}
_MONTH: Final = timedelta(days=30)
_MEMBERS: Final = 20
_AGAIN: Final = 8  # of them order again
_QUIET: Final = 10
_BUYING: Final = 4  # of them buy
_GREETED: Final = 20
_AGENT: Final = Agent("abacus demo", login_source("abacus demo"))
_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.1

_STANDS: Final = Statement("""
select journey, count(*) as entered, count(left_at) as left from seat where entered_at >= :since group by journey
""")
_DONE: Final = Statement("""
select owner, count(*) filter (where kind = 'tell') as messages, count(*) filter (where kind = 'award') as awards,
    array_agg(key) filter (where kind = 'award') as keys,
    count(*) filter (where done_at is null and refused_at is null) as waiting
from action where owner_kind = 'journey' and decided_at >= :since group by owner
""")
_TO_DO: Final = Statement("select count(*) as deeds from journey_deed")
_WITH_POINTS: Final = Statement(f"""
select member_id from account where country = 'SG' and balance > 0 order by member_id limit {_GREETED}
""")


async def journeyed(pool: Pool, since: datetime) -> Mapping[str, Mapping[str, int]]:
    """What journeys did for members who entered since then, by their names."""
    stands, done = await slices.rows(pool, _STANDS(since=since)), await slices.rows(pool, _DONE(since=since))
    names = sorted({row["journey"] for row in stands})
    return {
        name: {
            **{each: sum(row[each] for row in stands if row["journey"] == name) for each in ("entered", "left")},
            **{each: sum(row[each] for row in done if row["owner"] == name) for each in ("messages", "awards")},
        }
        for name in names
    }


class Bakery:
    """Its journeys, and the members of this run."""

    def __init__(self, complete: Settings, pool: Pool) -> None:
        self._settings = complete
        self._pool = pool
        self._since = SystemClock().now()
        self._mark = f"{self._since:%Y%m%d%H%M%S%f}"
        self._new = [f"bread-{self._mark}-{number}" for number in range(_MEMBERS)]
        self._quiet = [f"cake-{self._mark}-{number}" for number in range(_QUIET)]
        self._members = _MEMBERS + _QUIET

    async def open(self) -> None:
        """Publishes the source and approves the journeys, where they are not there yet. New members order first; quiet
        members, and members with points, are asked in.
        """
        clock, built_in = SystemClock(), built_in_sources(self._settings)
        sources, source = DocumentStore(self._pool, SOURCES), parse_source(_SOURCE)
        known = {record.document.name: record.document.types for record in await sources.latest()}
        if known.get(_BAKERY) != source.types:
            reserved = Reserved(built_in, self._settings.events_topic).look
            await sources.publish([source], reserved, by="abacus demo", now=clock.now())
        approvals = approvals_of(self._pool, built_in)
        async with rendering() as renderer:
            desk = JourneyDesk(self._pool, clock, built_in, approvals, renderer)
            for document in _documents(clock.now()):
                if not any(each.status is Status.APPROVED for each in await desk.history(document["name"])):
                    _, asked = await desk.propose(await desk.read(document), EDITOR)
                    await approvals.approve(asked.approval_id, APPROVER, asked.digest)
        await self._order(_BREAD, self._new)
        await self._ask_in()

    async def serve(self) -> Mapping[str, Mapping[str, int]]:
        """Some order again, and some buy. Waits until all have left and everything is done for them, and tells how it
        went.
        """

        async def have_entered() -> bool:
            return await self._count("entered") == self._members

        async def have_left() -> bool:
            return await self._count("left") == self._members

        await _until(have_entered, "members do not enter their journeys")
        await self._order(_BREAD, self._new[:_AGAIN])
        await self._order(_CAKE, self._quiet[:_BUYING])
        await _until(have_left, "members do not leave their journeys")
        await _until(self._is_done, "the deeds of the journeys are not done")
        return await journeyed(self._pool, self._since)

    async def _ask_in(self) -> None:
        entries, last = EntryDesk(self._pool, SystemClock()), {"last_order_at": (self._since - _MONTH).isoformat()}
        rich = sorted(row["member_id"] for row in await slices.rows(self._pool, _WITH_POINTS()))[:_GREETED]
        self._members += len(rich)
        for member in self._quiet:
            await entries.enter(_BACK, member, last, self._mark, _AGENT)
        for member in rich:
            await entries.enter(_GREETINGS, member, {}, self._mark, _AGENT)

    async def _order(self, what: str, members: Sequence[str]) -> None:
        publisher, now = StreamPublisher(self._settings.required("kafka_bootstrap")), SystemClock().now()
        events = [Event(_BAKERY, what, f"{each}-{now.timestamp()}", each, "SG", now, {"pieces": 1}) for each in members]
        messages = [StreamMessage(partition_key(each), encode_event(each)) for each in events]
        try:
            await publisher.publish(self._settings.events_topic, messages + messages)
        finally:
            await publisher.close()

    async def _count(self, what: str) -> int:
        return sum(row[what] for row in await slices.rows(self._pool, _STANDS(since=self._since)))

    async def _is_done(self) -> bool:
        """Nothing waits, and all points are posted."""
        if any(row["deeds"] for row in await slices.rows(self._pool, _TO_DO())):
            return False
        rows = await slices.rows(self._pool, _DONE(since=self._since))
        keys = [key for row in rows for key in row["keys"] or ()]
        return not any(row["waiting"] for row in rows) and len(await claims_of(self._pool, keys)) == len(keys)


def _documents(now: datetime) -> list[Mapping[str, Any]]:
    times = {"starts_at": now.isoformat(), "ends_at": (now + timedelta(days=365)).isoformat()}
    once_a_run = {"re_entry": {"again": "after_leaving", "at_most": 1000}}
    journeys = (
        welcome(WELCOME, f"{_BAKERY}/{_BREAD}", _PATIENCE),
        come_back(_BACK, f"{_BAKERY}/{_CAKE}", f"{_MONTH.days}d", _PATIENCE),
        {**new_year(_GREETINGS, {"api": True}, _SOON), **once_a_run},
    )
    return [{**each, **times, "country": "SG", "timezone": "Asia/Singapore"} for each in journeys]


async def _until(condition: Callable[[], Awaitable[bool]], why: str) -> None:
    """Raises `Unavailable`."""
    deadline = time.monotonic() + _WITHIN_S
    while not await condition():
        if time.monotonic() > deadline:
            raise Unavailable("journeyer", f"{why} after {_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)
