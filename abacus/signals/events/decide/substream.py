"""Topics by types of events, and sub-streams: which messages of a large topic are copied, and where to. Pure."""

import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.message import partition_key
from abacus.signals.events.decide.places import Always
from abacus.signals.events.decide.source import Source, followed_topic, substream_topic
from abacus.signals.events.decide.whereabouts import Locate

MAX_BYTES: Final = 1_000_000  # with its key and all else a little less than a broker takes, unless it is told otherwise
_MOST_MENTIONS: Final = 16  # to look for more takes longer than to read the message
_KNOWN_WITHIN: Final = timedelta(minutes=5)  # a process hears of a document within a second, or ten


class Asked(NamedTuple):
    """The events that somebody asks for: the types of each source, each with the moment since which it is wanted."""

    sources: Mapping[str, Source]
    types: Mapping[str, Mapping[str, datetime]]


def joined(every: Sequence[Asked]) -> Asked:
    """What any of them asks for, each type since the earliest moment. The sources are the first's."""
    types: dict[str, dict[str, datetime]] = {}
    for asked in every:
        for name, since in asked.types.items():
            joint = types.setdefault(name, {})
            for type_, at in since.items():
                joint[type_] = min(at, joint.get(type_, at))
    return Asked(every[0].sources, types)


class TooLarge(SetAside):
    """A message that a topic may refuse, for as long as it is asked to take it."""

    def __init__(self, size: int) -> None:
        super().__init__(Reason.UNDECODABLE, f"{size} bytes; a sub-stream takes messages of at most {MAX_BYTES}")


class Copy(NamedTuple):
    """The topic to copy a message to, and its key there."""

    topic: str
    key: bytes


def large_topics(asked: Asked) -> frozenset[str]:
    """The topics of which somebody asks for a sub-stream."""
    return frozenset(source.topic for source in _copied(asked) if source.topic is not None)


def wanted_since(asked: Asked, topic: str) -> Mapping[tuple[str, str], datetime]:
    """The moment since which each type of each source of the topic is wanted."""
    return {
        (source.name, type_): since
        for source in _copied(asked)
        if source.topic == topic
        for type_, since in asked.types[source.name].items()
    }


def asked_lately(since: Collection[datetime], now: datetime) -> datetime | None:
    """The moment from which messages are read again: what is asked for since a short while ago may have been passed
    over by a process that did not know it yet.
    """
    return min((each for each in since if each > now - _KNOWN_WITHIN), default=None)


class Selection:
    """Picks the messages of a large topic.

    A message that may be of a wanted type but does not fit its source is copied too: the reader of the sub-stream sets
    it aside, with the reason. A message that does not mention a wanted type is passed over unread.

    `since` has the types that it picks, by source and type.
    """

    def __init__(self, asked: Asked, topic: str, events_topic: str) -> None:
        sources = [source for source in _copied(asked) if source.topic == topic]
        self.since: Final = wanted_since(asked, topic)
        self._readers = [
            (
                substream_topic(source.name, events_topic),
                EventReader(
                    asked.sources.values(),
                    topic,
                    events_topic=events_topic,
                    only={source.name: asked.types[source.name]},
                ),
            )
            for source in sources
        ]
        types = {type_ for source in sources for type_ in asked.types[source.name]}
        named = all(source.places is not None and not isinstance(source.places.type, Always) for source in sources)
        self._mentions = [type_.encode() for type_ in types] if named and len(types) <= _MOST_MENTIONS else [b""]

    def copies(self, value: bytes, now: datetime) -> Iterator[Copy]:
        """Where a message goes: to at most one topic for each source. Raises `TooLarge`."""
        if not self._may_be_wanted(value):
            return
        if len(value) > MAX_BYTES:
            raise TooLarge(len(value))
        for topic, reader in self._readers:
            try:
                event = reader.read(value, now)
            except SetAside:
                yield Copy(topic, str(zlib.crc32(value)).encode())  # the same message goes to the same partition
            else:
                if event is not None:
                    yield Copy(topic, partition_key(event))

    def _may_be_wanted(self, value: bytes) -> bool:
        return any(mention in value for mention in self._mentions) or b"\\" in value  # JSON may write any letter so


def _copied(asked: Asked) -> list[Source]:
    """The sources with a sub-stream that somebody asks for."""
    return [
        source for name, source in asked.sources.items() if source.substream and source.topic and asked.types.get(name)
    ]


Types = Mapping[str, Collection[str]]  # the types of events that are wanted, by source


def followed_topics(types: Types, sources: Mapping[str, Source], events_topic: str) -> frozenset[str]:
    """The topics of the sources that have these types. Events of every source may come on the events topic, too."""
    wanted = [sources[name] for name in types if name in sources]
    topics = {topic for source in wanted if (topic := followed_topic(source, events_topic)) is not None}
    return frozenset(topics | {events_topic}) if wanted else frozenset()


def sources_on(topic: str, sources: Mapping[str, Source], events_topic: str) -> Collection[str]:
    """The names of the sources whose events come on a topic."""
    return {name for name, source in sources.items() if topic in (followed_topic(source, events_topic), events_topic)}


def reader_of(
    topic: str, types: Types, sources: Mapping[str, Source], events_topic: str, locate: Locate | None = None
) -> EventReader:
    """A reader of these types of events on a topic; it passes others over."""
    on_topic = sources_on(topic, sources, events_topic)
    wanted = {name: each for name, each in types.items() if name in on_topic}
    return EventReader(sources.values(), topic, events_topic=events_topic, only=wanted, locate=locate)
