"""Writers of counters that crash, come twice and save late, on a topic in memory; and what they should have counted."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, NamedTuple

from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange, Slots
from tests.signals.counters.store.rows import DAY_S, NOW

_TODAY: Final = int(NOW.timestamp()) // DAY_S * DAY_S
_UNTIL: Final = int(NOW.timestamp()) + 10 * DAY_S
_KEYS: Final = 15
_PARTITIONS: Final = 3
_EVENTS: Final = 400  # of a partition


LENGTHS: Final = {Grain.MINUTE: 60, Grain.QUARTER: 900, Grain.HOUR: 3600, Grain.DAY: DAY_S}


class Event(NamedTuple):
    """A key, and the minute in which it counts."""

    key: str
    minute: int
    amount: int

    def slots(self) -> Iterator[int]:
        for grain, length in LENGTHS.items():
            yield slot_of(grain, self.minute // length * length)


class Partition:
    """The events of a partition, and the offset from which its next owner reads."""

    def __init__(self, number: int, chance: random.Random) -> None:
        self.writer = 65_536 + number
        self.committed = 0
        self.events = [
            Event(
                f"1.1:rain:{int(_KEYS * chance.random() ** 2)}",  # some keys more often than others
                _TODAY + 60 * chance.randrange(-30 * 15, 60 * 15),
                chance.choice((1, 1, 1, 5, -2)),
            )
            for _ in range(_EVENTS)
        ]


class Writer:
    """Counts a partition from its committed offset, as a process does that has just been given it."""

    def __init__(self, store: CounterStore, partition: Partition) -> None:
        self.partition = partition
        self._store = store
        self._position = partition.committed
        self._rows: dict[RowKey, Count] = {}
        self._dirty: set[RowKey] = set()

    async def count(self, most: int) -> None:
        """Reads so many events."""
        events = self.partition.events[self._position : self._position + most]
        keys = {RowKey(event.key, slot, self.partition.writer) for event in events for slot in event.slots()}
        loaded = await self._store.load([key for key in keys if key not in self._rows])
        for key in keys:
            self._rows.setdefault(key, loaded.get(key, Count(0, -1)))
        for offset, event in enumerate(events, self._position):
            for slot in event.slots():
                key = RowKey(event.key, slot, self.partition.writer)
                if offset > self._rows[key].upto:
                    self._rows[key] = Count(self._rows[key].count + event.amount, offset)
                    self._dirty.add(key)
        self._position += len(events)

    async def save(self, share: float = 1.0) -> None:
        """Saves its changed rows, or the first of them, as one that is killed amid it."""
        dirty = list(self._dirty)
        saved = dirty[: round(len(dirty) * share)]
        await self._store.save([Row(key, self._rows[key], _UNTIL) for key in saved])
        self._dirty.difference_update(saved)

    def commit(self) -> None:
        self.partition.committed = self._position

    def forget(self, chance: random.Random) -> None:
        """Lets clean rows go, as a writer whose memory is full."""
        for key in list(self._rows):
            if key not in self._dirty and chance.random() < 0.5:
                del self._rows[key]

    @property
    def is_done(self) -> bool:
        return self._position >= len(self.partition.events)


AtStep = Callable[[int], Awaitable[None]]


async def nothing_more(_: int) -> None:
    """At a step like any other."""


class Torture:
    """One topic with its writers: an owner of each partition, and those that were thought dead."""

    def __init__(self, store: CounterStore, seed: int, at_step: AtStep = nothing_more) -> None:
        """`at_step` is called with the number of each step, and the writer goes on when it has returned."""
        self._at_step = at_step
        self.chance = random.Random(seed)
        self.partitions = [Partition(number, self.chance) for number in range(_PARTITIONS)]
        self.happened: Counter[str] = Counter()
        self.steps = 0
        self._store = store

    async def run(self) -> None:
        """Returns when every event was counted at least once and every zombie has saved."""
        await asyncio.gather(*(self._count(partition) for partition in self.partitions))

    async def _count(self, partition: Partition) -> None:
        chance = random.Random(self.chance.random())
        owner, zombies = Writer(self._store, partition), list[Writer]()
        while not owner.is_done:
            await owner.count(chance.randrange(1, 40))
            what = chance.choice(
                ("commit", "commit", "crash before", "crash amid", "crash after", "rebalance", "forget")
            )
            self.happened[what] += 1
            self.steps += 1
            await self._at_step(self.steps)
            if what == "commit":
                await owner.save()
                owner.commit()
            elif what == "forget":
                owner.forget(chance)
            else:
                if what == "crash amid":
                    await owner.save(chance.random())
                elif what == "crash after":
                    await owner.save()
                elif what == "rebalance":
                    zombies.append(owner)
                owner = Writer(self._store, partition)
            if zombies and chance.random() < 0.3:
                self.happened["saved late"] += 1
                await self._late(zombies.pop(chance.randrange(len(zombies))), owner, chance)
        await owner.save()
        owner.commit()
        for zombie in zombies:
            await zombie.save()

    async def _late(self, zombie: Writer, owner: Writer, chance: random.Random) -> None:
        """A zombie reads on, and saves while the owner does."""
        await zombie.count(chance.randrange(0, 50))
        await asyncio.gather(zombie.save(), owner.save())


def expected_slots(partitions: Sequence[Partition]) -> dict[tuple[str, Slots], dict[int, int]]:
    """The plain count of each slot that has an event, by the key and the slots of each grain."""
    series: dict[tuple[str, Slots], dict[int, int]] = {}
    for event in (each for partition in partitions for each in partition.events):
        for grain, slot in zip(LENGTHS, event.slots(), strict=True):
            ends = slot_of(grain, 0), slot_of(grain, _TODAY + 30 * DAY_S)
            of_grain = series.setdefault((event.key, ends), {})
            of_grain[slot] = of_grain.get(slot, 0) + event.amount
    return series


def expected(partitions: Sequence[Partition]) -> dict[SlotRange, int]:
    """The plain count of every slot of every key, and of some ranges that none falls into."""
    counted: Counter[tuple[str, int]] = Counter()
    for partition in partitions:
        for event in partition.events:
            for slot in event.slots():
                counted[event.key, slot] += event.amount
    sums = {SlotRange(key, slot, slot + 1): count for (key, slot), count in counted.items()}
    for number in range(_KEYS):
        key = f"1.1:rain:{number}"
        everything = SlotRange(key, slot_of(Grain.DAY, 0), slot_of(Grain.DAY, _TODAY + 30 * DAY_S))
        sums[everything] = sum(
            event.amount for partition in partitions for event in partition.events if event.key == key
        )
        sums[SlotRange(f"{key}:none", everything.first, everything.end)] = 0
    return sums
