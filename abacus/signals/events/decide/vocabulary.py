"""The variables that a document about several types of events can speak of. Pure."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from abacus.core.fields import Bad, quoted
from abacus.signals.events.decide.source import Source
from abacus.signals.events.types import VariableType

EventType: TypeAlias = tuple[str, str]  # a source and a type


class Vocabulary:
    """Several types of events, of published sources."""

    def __init__(self, on: Iterable[EventType], sources: Mapping[str, Source]) -> None:
        self._on = tuple(on)
        self._sources = sources
        self._types = [sources[source].types[event_type] for source, event_type in self._on]

    def any(self) -> Mapping[str, VariableType]:
        """The variables that some of the types have, but those whose type differs."""
        kinds: dict[str, set[VariableType]] = {}
        for types in self._types:
            for name, kind in types.items():
                kinds.setdefault(name, set()).add(kind)
        return {name: next(iter(each)) for name, each in kinds.items() if len(each) == 1}

    def type_of(self, name: str) -> VariableType:
        """The type of a variable that every one of the types of events has. Raises `Bad`."""
        kinds = {}
        for (source, event_type), types in zip(self._on, self._types, strict=True):
            if name not in types:
                near = difflib.get_close_matches(name, types, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise Bad(f"{source}/{event_type} has no variable {quoted(name)}{hint}")
            kinds[types[name]] = f"{source}/{event_type}"
        if len(kinds) > 1:
            words = " and ".join(f"{kind} in {where}" for kind, where in kinds.items())
            raise Bad(f"{quoted(name)} is {words}; it has to be of one type")
        return next(iter(kinds))

    def check_has_members(self) -> None:
        """Raises `Bad` where the messages of a source name no member."""
        for source, _ in self._on:
            places = self._sources[source].places
            if places is not None and places.member is None:
                raise Bad(_lacking(source))

    def check_has_countries(self) -> None:
        """Raises `Bad` where the messages of a source name no country."""
        for source, _ in self._on:
            places = self._sources[source].places
            if places is not None and places.country is None:
                raise Bad(_lacking(source))

    def check_has_places(self) -> None:
        """Raises `Bad` where the messages of a source say nowhere by coordinates where an event happened."""
        for source, _ in self._on:
            places = self._sources[source].places
            if places is not None and places.coordinates is None:
                raise Bad(
                    f"the events of {source} have no place; the fields lat and lon of that source have to name it"
                )


def event_type_of(text: str, sources: Mapping[str, Source] | None) -> EventType:
    """The source and the type that `weather/rain.drop` names, or a type alone that only one source has. Raises `Bad`.

    Without sources it is what was published.
    """
    source, slash, event_type = text.rpartition("/")
    if sources is None:
        return source, event_type
    if not slash:
        return _owner_of(text, sources), text
    if source not in sources:
        raise Bad(f"no source {quoted(source)} is published{_meant(source, sources)}")
    if event_type not in sources[source].types:
        raise Bad(f"{source} has no events of the type {quoted(event_type)}{_meant(event_type, sources[source].types)}")
    return source, event_type


def _owner_of(event_type: str, sources: Mapping[str, Source]) -> str:
    """The one source that has events of this type."""
    owners = sorted(name for name, each in sources.items() if event_type in each.types)
    if not owners:
        known = {each for of in sources.values() for each in of.types}
        raise Bad(f"no source has events of the type {quoted(event_type)}{_meant(event_type, known)}")
    if len(owners) > 1:
        raise Bad(f"{quoted(event_type)} is a type of {' and of '.join(owners)}; write {owners[0]}/{event_type}")
    return owners[0]


def _lacking(source: str) -> str:
    return f"the events of {source} have none; a field of that source has to name its place"


def _meant(text: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(text, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else "; `abacus events list` prints what there is"
