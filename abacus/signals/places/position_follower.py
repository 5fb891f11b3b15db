"""Follows the positions of members: what they cross is published, then written, and then the offsets are committed. A
position that is read again makes the same events, under the same keys.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from abacus.signals.places.decide.visit import Crossing, Followed, Regions, Visit, follow, latest
from abacus.signals.places.metrics import CROSSINGS, POSITIONS
from abacus.signals.places.visit_rows import keep_visits, visits_of

_AT_ONCE: Final = 2_000  # positions
_MOST_UNWRITTEN: Final = 20_000  # visits; then positions wait for the slices

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
        # Visits that were told, of slices that went away before they were written.
        self._unwritten: Mapping[tuple[str, str], Visit] = {}

    async def handle(self, records: Sequence[Record]) -> None:
        """Returns when what these positions tell is durable, but for the visits of a slice that went away meanwhile."""
        for first in range(0, len(records), _AT_ONCE):
            some = records[first : first + _AT_ONCE]
            followed = await until_available(partial(self._followed, some), self._health)
            # What was told once is not followed again, even when its slice is away by now.
            await until_available(partial(self._tell, followed.crossings), self._health)
            self._unwritten = latest(chain(self._unwritten.values(), followed.visits))
            await until_available(self._write, self._health)

    async def _followed(self, records: Sequence[Record]) -> Followed:
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
        before = latest(chain(visits, self._unwritten.values())).values()
        followed = follow(told, before, self._regions(), lambda country: self._maps().of(country).positions, now)
        POSITIONS.labels("followed").inc(len(told) - followed.late)
        POSITIONS.labels("late").inc(followed.late)
        POSITIONS.labels("away").inc(len(positions) - len(told))
        POSITIONS.labels("set_aside").inc(len(aside))
        return followed

    async def _tell(self, crossings: Sequence[Crossing]) -> None:
        events = list(map(event_of, crossings))
        if events:
            await self._publish([StreamMessage(partition_key(event), encode_event(event)) for event in events])
        for crossing in crossings:
            CROSSINGS.labels("entered" if crossing.entered else "left").inc()

    async def _write(self) -> None:
        if not self._unwritten:
            return
        written = await slices.split(self._pool, self._unwritten.values(), _write)
        self._unwritten = latest(written.waiting)
        if len(self._unwritten) > _MOST_UNWRITTEN:
            written.whole()


async def _read(slice_: slices.Slice, members: Sequence[str]) -> Sequence[Visit]:
    async with slice_.at() as connection:
        return await visits_of(connection, members)


async def _write(slice_: slices.Slice, visits: Sequence[Visit]) -> None:
    async with slice_.at() as connection:
        await keep_visits(connection, visits)
