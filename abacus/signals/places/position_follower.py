"""Follows the positions of members: what they cross is published, then written, and then the offsets are committed. A
position that is read again makes the same events, under the same keys.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import chain
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import SetAside
from abacus.platform import slices
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Record
from abacus.platform.patience import until_available
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item, Stage, origin_of
from abacus.signals.events.decide.message import encode_event, partition_key
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.crossing_event import event_of
from abacus.signals.places.decide.position import Position, kept, read_position
from abacus.signals.places.decide.visit import Crossing, Regions, Visit, follow
from abacus.signals.places.metrics import CROSSINGS, POSITIONS
from abacus.signals.places.visit_rows import keep_visits, visits_of

_AT_ONCE: Final = 2_000  # positions

# Returns when the events topic has every message. Raises `Unavailable` when that is not known.
Publish = Callable[[Sequence[StreamMessage]], Awaitable[None]]


class PositionFollower:
    """The handler of a reader. Positions of members whose slice is away are let go: the next ones tell the same."""

    def __init__(
        self,
        pool: Pool,
        regions: Callable[[], Regions],
        maps: Callable[[], Maps],
        publish: Publish,
        quarantine: QuarantinePort,
        *,
        clock: Clock,
        health: WorkerHealth,
    ) -> None:
        """`regions` and `maps` raise `Unavailable` when they were never read."""
        self._pool = pool
        self._regions = regions
        self._maps = maps
        self._publish = publish
        self._quarantine = quarantine
        self._clock = clock
        self._health = health

    async def handle(self, records: Sequence[Record]) -> None:
        """Returns when what these positions tell is durable."""
        for first in range(0, len(records), _AT_ONCE):
            some = records[first : first + _AT_ONCE]
            await until_available(partial(self._handle, some), self._health)

    async def _handle(self, records: Sequence[Record]) -> None:
        now = self._clock.now()
        positions: list[Position] = []
        aside: list[Item] = []
        for record in records:
            try:
                positions.append(read_position(record.value, now))
            except SetAside as fault:
                origin = origin_of(record.topic, record.partition, record.offset)
                aside.append(Item.of(Stage.POSITION, origin, kept(record.value), fault))
        await self._quarantine.add(aside)
        known = await slices.split(self._pool, {each.member_id for each in positions}, _read, member_of=str, reads=True)
        away = set(known.waiting)
        told = [each for each in positions if each.member_id not in away]
        visits = chain.from_iterable(known.in_reach()) if told else ()
        followed = follow(told, visits, self._regions(), lambda country: self._maps().of(country).positions, now)
        await self._tell(followed.crossings)
        await slices.split(self._pool, followed.visits, _write)
        POSITIONS.labels("followed").inc(len(told) - followed.late)
        POSITIONS.labels("late").inc(followed.late)
        POSITIONS.labels("away").inc(len(positions) - len(told))
        POSITIONS.labels("set_aside").inc(len(aside))

    async def _tell(self, crossings: Sequence[Crossing]) -> None:
        events = list(map(event_of, crossings))
        if events:
            await self._publish([StreamMessage(partition_key(event), encode_event(event)) for event in events])
        for crossing in crossings:
            CROSSINGS.labels("entered" if crossing.entered else "left").inc()


async def _read(slice_: slices.Slice, members: Sequence[str]) -> Sequence[Visit]:
    async with slice_.at() as connection:
        return await visits_of(connection, members)


async def _write(slice_: slices.Slice, visits: Sequence[Visit]) -> None:
    async with slice_.at() as connection:
        await keep_visits(connection, visits)
