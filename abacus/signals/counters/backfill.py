"""Counts what a topic still holds of the time before a definition began, beside the live writers. The offsets of both
do not meet: a backfill ends where they began.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import NamedTuple

from abacus.core.errors import Refused
from abacus.platform.kafka.reader import Record, StartAgain
from abacus.signals.counters.counter import EventCounter, Work, by_partition, tally_after
from abacus.signals.counters.decide.admission import Day, Room
from abacus.signals.counters.decide.batch import BatchWriter
from abacus.signals.counters.decide.event_measure import EventMeasure
from abacus.signals.counters.decide.topics import InForce
from abacus.signals.counters.parts import Part, PartsBook, Subject
from abacus.signals.counters.series import NO_NEW_KEYS, SeriesBook, WriterStart, version_of
from abacus.signals.counters.topic import KafkaTopic


class Progress(NamedTuple):
    """How far a topic is read, in offsets, and how many events were counted; all of it, also by earlier runs."""

    topic: str
    done: int
    of: int
    counted: int


class Backfill:
    """Counts one topic for one definition. `in_force` has no other."""

    def __init__(
        self, topic: KafkaTopic, in_force: InForce, parts: PartsBook, book: SeriesBook, counter: EventCounter
    ) -> None:
        [self._definition] = in_force.definitions
        self._topic = topic
        self._in_force = in_force
        self._parts = parts
        self._book = book
        self._counter = counter
        self._identity: str | None = None

    async def run(self, since: datetime) -> AsyncGenerator[Progress, None]:
        """Counts what is as young as this moment and not counted yet; first what an earlier run left. Raises `Refused`,
        and `Unavailable`: run it again, and it goes on. Raises `NoTopicIds`.
        """
        self._identity = await self._topic.identity()
        if self._identity is None:
            return  # a topic that is not there holds nothing
        of = Subject(self._topic.name, self._identity, version_of(self._definition))
        known = await self._parts.known(of)
        known += await self._opened(of, known, since)
        parts = known[1:]
        places = await self._book.places([part.writer(each) for part in parts for each in part.ranges])
        yield self._progress(parts, places)
        for part in parts:
            later = {each: _firsts(known[: part.number], each) for each in part.ranges}
            left = {
                each: range(places[part.writer(each)].tally.upto + 1, all_.stop) for each, all_ in part.ranges.items()
            }
            async with aclosing(self._topic.records(left)) as batches:
                async for records in batches:
                    places |= await self._count(part, by_partition(records), places, later)
                    yield self._progress(parts, places)
            places |= await self._ended(part, places)  # the last offsets may have no events
        yield self._progress(parts, places)

    async def _count(
        self,
        part: Part,
        records: Mapping[int, Sequence[Record]],
        places: Mapping[int, WriterStart],
        later: Mapping[int, Mapping[int, int]],
    ) -> Mapping[int, WriterStart]:
        works = [
            Work(
                BatchWriter(part.writer(each), self._in_force.read, self._measures, later[each]),
                some,
                _behind(places[part.writer(each)]),
                self._in_force.kept,
            )
            for each, some in records.items()
        ]
        try:
            outcomes = await self._counter.count(works, self._confirm)
        except StartAgain:
            raise self._is_counted() from None
        counted = {part.writer(each): (places[part.writer(each)], some[-1]) for each, some in records.items()}
        return await self._moved(
            {
                writer: place._replace(tally=tally_after(place.tally, outcomes[writer], last))
                for writer, (place, last) in counted.items()
            },
            {day: room for each in outcomes.values() for day, room in each.new_keys.items()},
        )

    async def _ended(self, part: Part, places: Mapping[int, WriterStart]) -> Mapping[int, WriterStart]:
        ends = {part.writer(each): offsets.stop - 1 for each, offsets in part.ranges.items()}
        return await self._moved(
            {
                writer: places[writer]._replace(tally=places[writer].tally._replace(upto=end))
                for writer, end in ends.items()
                if places[writer].tally.upto < end
            }
        )

    async def _moved(
        self, places: Mapping[int, WriterStart], new_keys: Mapping[Day, Room] = NO_NEW_KEYS
    ) -> Mapping[int, WriterStart]:
        if len(await self._book.move(places, new_keys)) < len(places):
            raise self._is_counted()
        return places

    def _is_counted(self) -> Refused:
        return Refused(f"another process counts the same of {self._topic.name}; wait until it has ended")

    async def _confirm(self) -> None:
        if await self._topic.identity() != self._identity:
            raise Refused(f"the topic {self._topic.name} was deleted: what it held is gone")

    def _measures(self, source: str, type_: str, _: int) -> Sequence[EventMeasure]:
        return self._in_force.catalog.measures(source, type_)

    def _progress(self, parts: Sequence[Part], places: Mapping[int, WriterStart]) -> Progress:
        tallies = {(part.number, each): places[part.writer(each)].tally for part in parts for each in part.ranges}
        firsts = {(part.number, each): offsets.start for part in parts for each, offsets in part.ranges.items()}
        return Progress(
            self._topic.name,
            done=sum(tally.upto + 1 - firsts[which] for which, tally in tallies.items()),
            of=sum(len(offsets) for part in parts for offsets in part.ranges.values()),
            counted=sum(tally.counted for tally in tallies.values()),
        )

    async def _opened(self, of: Subject, known: Sequence[Part], since: datetime) -> list[Part]:
        """The part before all known parts, if it holds anything."""
        partitions = await self._topic.partitions()
        begun = known[0].ranges if known else {}
        if missing := [str(each) for each in partitions if each not in begun]:
            raise Refused(
                f"{self._definition.label} has not begun yet in {self._topic.name}, partitions {', '.join(missing)}:"
                " run `abacus worker counter`, and try again a moment later"
            )
        begins = (await self._topic.begins_since(partitions, [since]))[since]
        lows = {each: min(part.ranges[each].start for part in known if each in part.ranges) for each in partitions}
        ranges = {each: range(begins[each], lows[each]) for each in partitions if begins[each] < lows[each]}
        if not ranges:
            return []
        return [await self._parts.open(of, len(known), since, ranges)]


def _behind(place: WriterStart) -> int:
    return place.tally.upto + 1


def _firsts(later: Sequence[Part], partition: int) -> Mapping[int, int]:
    """The writers that count what comes behind in this partition, each with its first offset."""
    return {part.writer(partition): part.ranges[partition].start for part in later if partition in part.ranges}
