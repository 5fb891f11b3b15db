"""The journey of the demo: members of a bakery are welcomed; some order again and are thanked, others are reminded."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from abacus.cli.demo.two_people import APPROVER, EDITOR, approvals_of
from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.documents.decide.states import Status
from abacus.documents.store import DocumentStore
from abacus.engage.journeys.decide.examples import welcome
from abacus.engage.journeys.desk import JourneyDesk
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
_ORDERED: Final = "bread.ordered"
_SOURCE: Final[Mapping[str, Any]] = {"source": _BAKERY, "senders": ["demo"], "types": {_ORDERED: {"loaves": "integer"}}}
_WELCOME: Final = "demo_welcome"
_AGAIN_WITHIN: Final = "6s"
_MEMBERS: Final = 20
_AGAIN: Final = 8  # of them order again
_WITHIN_S: Final = 60.0
_LOOK_EVERY_S: Final = 0.1

_STANDS: Final = Statement("""
select journey, count(*) as entered, count(*) filter (where node is not null and left_at is null) as waiting,
    count(left_at) as left from seat where starts_with(member_id, :mark) group by journey
""")
_DONE: Final = Statement("""
select owner, count(*) filter (where kind = 'tell') as messages, count(*) filter (where kind = 'award') as awards,
    array_agg(key) filter (where kind = 'award') as keys,
    count(*) filter (where done_at is null and refused_at is null) as waiting
from action where owner_kind = 'journey' and starts_with(member_id, :mark) group by owner
""")
_TO_DO: Final = Statement("select count(*) as deeds from journey_deed")


async def journeyed(pool: Pool, mark: str = "") -> Mapping[str, Mapping[str, int]]:
    """What journeys did for members whose ids begin with the mark, by their names."""
    stands, done = await slices.rows(pool, _STANDS(mark=mark)), await slices.rows(pool, _DONE(mark=mark))
    names = sorted({row["journey"] for row in stands})
    return {
        name: {
            **{each: sum(row[each] for row in stands if row["journey"] == name) for each in ("entered", "left")},
            **{each: sum(row[each] for row in done if row["owner"] == name) for each in ("messages", "awards")},
        }
        for name in names
    }


class Bakery:
    """Its journey, and the members of this run."""

    def __init__(self, complete: Settings, pool: Pool) -> None:
        self._settings = complete
        self._pool = pool
        self._mark = f"bread-{SystemClock().now():%Y%m%d%H%M%S%f}-"
        self._members = [f"{self._mark}{number}" for number in range(_MEMBERS)]

    async def open(self) -> None:
        """Publishes the source and approves the journey, where they are not there yet, and members order first."""
        clock, built_in = SystemClock(), built_in_sources(self._settings)
        sources = DocumentStore(self._pool, SOURCES)
        if _BAKERY not in {record.document.name for record in await sources.latest()}:
            reserved = Reserved(built_in, self._settings.events_topic).look
            await sources.publish([parse_source(_SOURCE)], reserved, by="abacus demo", now=clock.now())
        approvals = approvals_of(self._pool, built_in)
        async with rendering() as renderer:
            desk = JourneyDesk(self._pool, clock, built_in, approvals, renderer)
            if not any(each.status is Status.APPROVED for each in await desk.history(_WELCOME)):
                _, asked = await desk.propose(await desk.read(_document(clock.now())), EDITOR)
                await approvals.approve(asked.approval_id, APPROVER, asked.digest)
        await self._order(self._members)

    async def serve(self) -> Mapping[str, Mapping[str, int]]:
        """Some order again. Waits until all have left and everything is done for them, and tells how it went."""

        async def are_inside() -> bool:
            return await self._count("waiting") + await self._count("left") == _MEMBERS

        async def have_left() -> bool:
            return await self._count("left") == _MEMBERS

        await _until(are_inside, "members do not wait in their journey")
        await self._order(self._members[:_AGAIN])
        await _until(have_left, "members do not leave their journey")
        await _until(self._is_done, "the deeds of the journey are not done")
        return await journeyed(self._pool, self._mark)

    async def _order(self, members: Sequence[str]) -> None:
        publisher, now = StreamPublisher(self._settings.required("kafka_bootstrap")), SystemClock().now()
        events = [
            Event(_BAKERY, _ORDERED, f"{each}-{now.timestamp()}", each, "SG", now, {"loaves": 1}) for each in members
        ]
        messages = [StreamMessage(partition_key(each), encode_event(each)) for each in events]
        try:
            await publisher.publish(self._settings.events_topic, messages + messages)
        finally:
            await publisher.close()

    async def _count(self, what: str) -> int:
        return sum(row[what] for row in await slices.rows(self._pool, _STANDS(mark=self._mark)))

    async def _is_done(self) -> bool:
        """Nothing waits, and all points are posted."""
        if any(row["deeds"] for row in await slices.rows(self._pool, _TO_DO())):
            return False
        rows = await slices.rows(self._pool, _DONE(mark=self._mark))
        keys = [key for row in rows for key in row["keys"] or ()]
        return not any(row["waiting"] for row in rows) and len(await claims_of(self._pool, keys)) == len(keys)


def _document(now: datetime) -> Mapping[str, Any]:
    times = {"starts_at": now.isoformat(), "ends_at": (now + timedelta(days=365)).isoformat()}
    journey = welcome(_WELCOME, f"{_BAKERY}/{_ORDERED}", _AGAIN_WITHIN)
    return {**journey, **times, "country": "SG", "timezone": "Asia/Singapore"}


async def _until(condition: Callable[[], Awaitable[bool]], why: str) -> None:
    """Raises `Unavailable`."""
    deadline = time.monotonic() + _WITHIN_S
    while not await condition():
        if time.monotonic() > deadline:
            raise Unavailable("journeyer", f"{why} after {_WITHIN_S:.0f} s")
        await asyncio.sleep(_LOOK_EVERY_S)
