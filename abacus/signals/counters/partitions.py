"""The partitions of a topic that a process counts, and where each definition begins in them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from abacus.platform.kafka.reader import StartAgain
from abacus.signals.counters.decide.admission import Day, Room
from abacus.signals.counters.decide.batch import Measures
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.event_measure import EventMeasure
from abacus.signals.counters.decide.topics import InForce
from abacus.signals.counters.generation import Generation
from abacus.signals.counters.series import SeriesBook, Tally, Version, WriterStart, version_of, writer_of
from abacus.signals.counters.topic import Topic

_NEVER: Final = 1 << 63


class OpenPartition(NamedTuple):
    """A partition as far as it is counted, and how its events count from here on."""

    writer: int
    place: WriterStart
    measures: Measures


class OpenPartitions:
    """The partitions that this process has."""

    def __init__(self, topic: Topic, book: SeriesBook) -> None:
        self.generation: Final = Generation(topic, book)
        self._topic = topic
        self._book = book
        self._open: dict[int, OpenPartition] = {}
        self._adopted: InForce | None = None

    def __getitem__(self, partition: int) -> OpenPartition:
        return self._open[partition]

    def __contains__(self, partition: int) -> bool:
        return partition in self._open

    async def begin(self, partitions: Collection[int], in_force: InForce) -> None:
        """Opens these partitions where they are recorded. What nobody has begun yet begins with the first event that is
        as young as the oldest definition that counts the topic's. Raises `Unavailable`, and `StartAgain`.
        """
        series = await self.generation.series(partitions, others=bool(self._open.keys() - set(partitions)))
        numbers = {partition: writer_of(series[partition], partition) for partition in partitions}
        places = await self._book.places(numbers.values())
        if fresh := [partition for partition, writer in numbers.items() if writer not in places]:
            firsts = await self._firsts(dict.fromkeys(fresh, in_force.definitions))
            uptos = {numbers[each]: min(firsts[each].values(), default=0) - 1 for each in fresh}
            await self._book.begin(uptos)
            places |= await self._book.places(uptos)
        for partition, writer in numbers.items():
            self._open[partition] = OpenPartition(writer, places[writer], _measures(in_force, places[writer]))
        self._adopted = None
        await self.adopt(in_force)

    def close(self, partition: int) -> OpenPartition | None:
        """The partition is another process's from now on."""
        return self._open.pop(partition, None)

    async def adopt(self, in_force: InForce) -> None:
        """Records where definitions begin that have not begun yet in an open partition: behind what is counted, and not
        before they were published. Raises `Unavailable`, and `StartAgain`.
        """
        if in_force is self._adopted:
            return
        lacking = {
            partition: [each for each in in_force.definitions if version_of(each) not in opened.place.starts]
            for partition, opened in self._open.items()
        }
        firsts = await self._firsts({partition: some for partition, some in lacking.items() if some})
        for partition, opened in list(self._open.items()):
            place = opened.place
            if since := firsts.get(partition):
                behind = place.tally.upto + 1
                there = await self._book.start(
                    opened.writer, {version: max(behind, first) for version, first in since.items()}
                )
                if there.tally.upto != place.tally.upto:
                    raise StartAgain(f"another process counts partition {partition} of {self._topic.name}")
                place = place._replace(starts=there.starts)
            if partition in self._open:  # it may have left meanwhile
                self._open[partition] = OpenPartition(opened.writer, place, _measures(in_force, place))
        self._adopted = in_force

    async def move(
        self, tallies: Mapping[int, Tally], new_keys: Mapping[Day, Room], in_force: InForce
    ) -> Collection[int]:
        """Saves the tallies of these partitions, with what became of new keys, and returns the partitions whose tallies
        are saved. In the others a definition begins that was not known here before: their events have to be counted
        again. Raises `StartAgain` when another process has counted a partition, and `Unavailable`.
        """
        places = {partition: self._open[partition].place._replace(tally=tally) for partition, tally in tallies.items()}
        moved = await self._book.move({self._open[each].writer: place for each, place in places.items()}, new_keys)
        left = {partition for partition in places if self._open[partition].writer not in moved}
        there = await self._book.places([self._open[partition].writer for partition in left]) if left else {}
        for partition, place in places.items():
            opened = self._open[partition]
            if partition not in left or there[opened.writer] == place:  # or it was saved, and the answer was lost
                self._open[partition] = opened._replace(place=place)
                left.discard(partition)
            elif there[opened.writer].tally == opened.place.tally:
                known = there[opened.writer]
                self._open[partition] = OpenPartition(opened.writer, known, _measures(in_force, known))
            else:
                raise StartAgain(f"another process counts partition {partition} of {self._topic.name}")
        return places.keys() - left

    async def _firsts(self, lacking: Mapping[int, Sequence[Definition]]) -> Mapping[int, Mapping[Version, int]]:
        """For each partition and definition the first offset that is as young as the definition."""
        moments = {each.published_at for some in lacking.values() for each in some}
        begins = await self._topic.begins_since(list(lacking), moments) if moments else {}
        return {
            partition: {version_of(each): begins[each.published_at][partition] for each in some}
            for partition, some in lacking.items()
        }


def _measures(in_force: InForce, place: WriterStart) -> Measures:
    """How an event counts by its source, type and offset. Raises `Unavailable` when a definition has begun that is not
    known here yet.
    """
    catalog, starts = in_force.catalog, place.starts
    for id_, version in starts:
        if in_force.versions.get(id_, 0) < version:
            raise Unavailable("counters", f"definition {id_}.{version} is not known here yet")
    all_begun = max((starts.get(version_of(each), _NEVER) for each in in_force.definitions), default=0)

    def measures(source: str, type_: str, offset: int) -> Sequence[EventMeasure]:
        in_type = catalog.measures(source, type_)
        if offset >= all_begun:
            return in_type
        return [each for each in in_type if starts.get(version_of(each.definition), _NEVER) <= offset]

    return measures
