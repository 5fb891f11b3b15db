"""All definitions, found by key and by type of event. Pure."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from abacus.core.errors import Absent
from abacus.core.fields import quoted
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.event_measure import EventMeasure, measure_of
from abacus.signals.counters.decide.template import LONGEST_KEY, pattern_of
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.vocabulary import EventType


class Unknown(Absent):
    """No counter has this key."""


class Catalog:
    """The latest version of each definition, the retired ones too, and all sources as they were at that moment: events
    are to be read by these.

    A definition is compiled when the first event of one of its types comes, and once for all catalogues.
    """

    def __init__(self, definitions: Iterable[Definition], sources: Mapping[str, Source]) -> None:
        in_order = sorted(definitions, key=lambda each: each.template.beginning)
        self.definitions: Final[Sequence[Definition]] = tuple(in_order)
        self.sources: Final = sources
        self._beginnings = [each.template.beginning for each in in_order]
        self._by_type: dict[EventType, list[Definition]] = {}
        for each in in_order:
            for event_type in () if each.retired else each.on:
                self._by_type.setdefault(event_type, []).append(each)
        self._measures: dict[EventType, tuple[EventMeasure, ...]] = {}

    def find(self, key: str) -> Definition:
        """The definition whose keys look like this one. Raises `Unknown`."""
        # No beginning is the beginning of another, so only the last one before the key can be that of the key.
        place = bisect_right(self._beginnings, key) - 1
        if place < 0 or not key.startswith(self._beginnings[place]):
            remedy = "`abacus counters list` prints their templates"
            raise Unknown(f"there is no counter with a key such as {quoted(key)}; {remedy}")
        definition = self.definitions[place]
        if not pattern_of(definition.template).fullmatch(key):
            raise Unknown(f"{quoted(key)} does not fit the template of {definition.name}, {definition.template}")
        if len(key.encode(errors="replace")) > LONGEST_KEY:
            raise Unknown(f"{quoted(key)} is longer than {LONGEST_KEY} bytes, which no key is")
        return definition

    def keys_of(self, event_source: str, field: str, value: str) -> Mapping[str, str]:
        """The keys of counters that count events of this source alone, under this field alone, by their names."""
        return {
            each.name: each.template.texts[0] + value + each.template.texts[1]
            for each in self.definitions
            if not each.retired and each.template.fields == (field,) and {name for name, _ in each.on} == {event_source}
        }

    def types(self) -> Mapping[str, set[str]]:
        """The types of events that some definition counts, by source."""
        types: dict[str, set[str]] = {}
        for source, event_type in self._by_type:
            types.setdefault(source, set()).add(event_type)
        return types

    def measures(self, source: str, event_type: str) -> Sequence[EventMeasure]:
        """One for each definition that counts events of this type."""
        place = source, event_type
        if place not in self._measures and place in self._by_type:
            self._measures[place] = tuple(map(self._compiled, self._by_type[place]))
        return self._measures.get(place, ())

    def _compiled(self, definition: Definition) -> EventMeasure:
        names = dict.fromkeys(source for source, _ in definition.on)
        return measure_of(definition, tuple(self.sources[name] for name in names if name in self.sources))
