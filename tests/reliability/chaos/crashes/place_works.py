"""The work of the follower of positions: what a member crosses is told once, and nothing is told twice differently."""

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final

import orjson

from abacus.core.errors import Reason
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.window import TopicWindow
from abacus.platform.postgres import nothing_else
from abacus.signals.places.decide.position import kept
from abacus.signals.places.decide.region import Region
from abacus.signals.places.region_store import Loading, RegionStore
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.lane import Lane
from tests.reliability.chaos.crashes.work import Work
from tests.support.editions import edition_of

_MALL: Final = Region("mall", "The mall", "mall", 1, "SG", ((((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)),),))
_INSIDE: Final = {"lat": 0.25, "lon": 0.5}
_OUTSIDE: Final = {"lat": 0.25, "lon": 3.0}
_DAY: Final = timedelta(days=1)
_VISITS: Final = """
select member_id, inside, since from member_region where starts_with(member_id, $1) order by member_id
"""


class MembersFollowed(Work):
    """Two members enter a region, and one leaves it. A position comes twice, and one is none."""

    worker: ClassVar = "positions"
    name: ClassVar = "crossings"
    passes: ClassVar = frozenset(
        {Stage.RECEIVE, Stage.DECIDE, Stage.QUARANTINE, Stage.PRODUCE, Stage.INSERT, Stage.OFFSET_COMMIT}
    )

    def __init__(self, lane: Lane, mark: str) -> None:
        super().__init__(lane, mark)
        self._ann, self._bob = f"{mark}-ann", f"{mark}-bob"
        self._now = datetime.now(UTC)
        self._before, self._after = (self._now - timedelta(minutes=each) for each in (50, 10))

    async def lay_out(self) -> None:
        store = RegionStore(self.lane.pool)
        if not await store.in_force():
            loading = Loading("person:ann", self._now, waits=False)
            await store.load(edition_of("SG", [_MALL]), loading, nothing_else)
        sent = [
            self._position(self._ann, self._before, _INSIDE),
            self._position(self._ann, self._before, _INSIDE),
            self._position(self._bob, self._before, _INSIDE),
            self._position(self._bob, self._after, _INSIDE | {"lat": 91.0}),
            self._position(self._ann, self._after, _OUTSIDE),
        ]
        self.due.hold(Reason.INVALID, kept(sent[3].value))
        await self.lane.place(sent)

    async def is_done(self) -> bool:
        return await self._visits() == self._due_visits and await self.is_through()

    async def is_through(self) -> bool:
        return await self.lane.is_read("positions", self.lane.settings.positions_topic)

    async def more_faults(self) -> list[str]:
        """Faults unless each crossing was told, under one key however often, and the visits say the same."""
        faults = []
        if (visits := await self._visits()) != self._due_visits:
            faults.append(f"the visits are {visits}")
        told = [each for each in await self._events() if each["member_id"].startswith(self.mark)]
        keys = {each["id"]: (each["member_id"], each["type"], each["occurred_at"]) for each in told}
        due = {
            (self._ann, "place.entered", self._before),
            (self._bob, "place.entered", self._before),
            (self._ann, "place.left", self._after),
        }
        crossings = sorted((who, what, datetime.fromisoformat(at)) for who, what, at in keys.values())
        if crossings != sorted(due):
            faults.append(f"the crossings are {crossings}")
        return faults

    @property
    def _due_visits(self) -> list[tuple[Any, ...]]:
        return [(self._ann, False, self._after), (self._bob, True, self._before)]

    async def _visits(self) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self.lane.pool.fetch(_VISITS, self.mark)]

    async def _events(self) -> list[dict[str, Any]]:
        settings = self.lane.settings
        bootstrap, topic = settings.required("kafka_bootstrap"), settings.events_topic
        window = TopicWindow(bootstrap, topic, self._now - _DAY, self._now + _DAY)
        return [orjson.loads(message.value) async for batch in window.batches() for message in batch]

    def _position(self, member_id: str, at: datetime, where: dict[str, float]) -> StreamMessage:
        return StreamMessage(member_id.encode(), orjson.dumps({"member_id": member_id, "at": at, **where}))
