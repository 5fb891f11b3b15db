"""The topics that hold some types of events, and the reading of those events there. Pure."""

from collections.abc import Collection, Mapping

from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.source import Source, followed_topic

Types = Mapping[str, Collection[str]]  # the types of events that are wanted, by source


def followed_topics(types: Types, sources: Mapping[str, Source], events_topic: str) -> frozenset[str]:
    """The topics of the sources that have these types. Events of every source may come on the events topic, too."""
    wanted = [sources[name] for name in types if name in sources]
    topics = {topic for source in wanted if (topic := followed_topic(source, events_topic)) is not None}
    return frozenset(topics | {events_topic}) if wanted else frozenset()


def sources_on(topic: str, sources: Mapping[str, Source], events_topic: str) -> Collection[str]:
    """The names of the sources whose events come on a topic."""
    return {name for name, source in sources.items() if topic in (followed_topic(source, events_topic), events_topic)}


def reader_of(topic: str, types: Types, sources: Mapping[str, Source], events_topic: str) -> EventReader:
    """A reader of these types of events on a topic; it passes others over."""
    on_topic = sources_on(topic, sources, events_topic)
    wanted = {name: each for name, each in types.items() if name in on_topic}
    return EventReader(sources.values(), topic, events_topic=events_topic, only=wanted)
