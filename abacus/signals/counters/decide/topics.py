"""The topics whose events count, and the documents by which the events of each are counted. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.events.decide.substream import Asked, followed_topics, reader_of, sources_on
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.types import Event


class InForce(NamedTuple):
    """The documents for one topic: all definitions with the latest version of each, the definitions that count
    the topic's events, the reading of those events, and what may be kept of their messages.
    """

    catalog: Catalog
    versions: Mapping[int, int]
    definitions: Sequence[Definition]
    read: Callable[[bytes, datetime], Event | None]
    kept: Callable[[bytes], bytes]


def topics_of(catalog: Catalog, events_topic: str) -> frozenset[str]:
    """The topics of the sources whose events count. Events of every source may come on the events topic, too."""
    return followed_topics(catalog.types(), catalog.sources, events_topic)


def in_force(catalog: Catalog, topic: str, events_topic: str, locate: Locate | None = None) -> InForce:
    """The documents for a topic."""
    on_topic = sources_on(topic, catalog.sources, events_topic)
    reader = reader_of(topic, catalog.types(), catalog.sources, events_topic, locate)
    definitions = [each for each in catalog.definitions if counts_events_on(each, on_topic)]
    versions = {each.id: each.version for each in catalog.definitions}
    return InForce(catalog, versions, definitions, reader.read, reader.kept)


def counts_events_on(definition: Definition, on_topic: Collection[str]) -> bool:
    """Whether it counts events of these sources, the sources of a topic."""
    return not definition.retired and any(name in on_topic for name, _ in definition.on)


@lru_cache(maxsize=1)
def asked_by_counters(catalog: Catalog) -> Asked:
    """The types that counters ask for, each since its oldest counter; the same object for the same catalogue."""
    since: dict[str, dict[str, datetime]] = {}
    for definition in catalog.definitions:
        for source, type_ in () if definition.retired else definition.on:
            of_source = since.setdefault(source, {})
            of_source[type_] = min(definition.published_at, of_source.get(type_, definition.published_at))
    return Asked(catalog.sources, since)
