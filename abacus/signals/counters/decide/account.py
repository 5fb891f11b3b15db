"""What became of the events of each partition, and whether the sums come out. Pure."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class EventFates(NamedTuple):
    """What became of events: `seen` is the sum of the other four."""

    seen: int = 0
    counted: int = 0
    ignored: int = 0
    repeated: int = 0
    set_aside: int = 0

    def plus(self, *others: "EventFates") -> "EventFates":
        return EventFates(*map(sum, zip(self, *others, strict=True)))


class PartitionAccount(NamedTuple):
    """A partition of a topic as a writer has counted it: from the offset `first` up to `upto`. `first` is that at which
    a definition began, or before it, where events were seen that no definition counted.

    `counter` is the definition of a backfill, and None for the live writer. `generation` counts the topics of this
    name that were there one after another.
    """

    topic: str
    generation: int
    counter: str | None
    partition: int
    first: int
    upto: int
    seen: int
    counted: int
    ignored: int
    repeated: int
    set_aside: int

    @property
    def fates(self) -> EventFates:
        return EventFates(self.seen, self.counted, self.ignored, self.repeated, self.set_aside)

    @property
    def offsets(self) -> int:
        """How many offsets are behind the writer."""
        return self.upto + 1 - self.first

    @property
    def without_event(self) -> int:
        """Offsets at which no event came: marks of the broker, or events that it deleted before they were read."""
        return self.offsets - self.seen

    @property
    def faults(self) -> list[str]:
        """What does not come out."""
        told = sum(self.fates[1:])
        return [] if self.seen == told else [f"{self.seen:,} events seen, and the fate of {told:,} is known"]


def waiting(accounts: Iterable[PartitionAccount], ends: Mapping[str, Mapping[int, int]]) -> dict[PartitionAccount, int]:
    """The offsets that the live writers of the topics that are there have still to read; `ends` are by topic and
    partition.
    """
    live = [each for each in accounts if each.counter is None]
    latest = {each.topic: max(other.generation for other in live if other.topic == each.topic) for each in live}
    return {
        each: max(0, ends[each.topic][each.partition] - each.upto - 1)
        for each in live
        if each.generation == latest[each.topic] and each.partition in ends.get(each.topic, {})
    }
