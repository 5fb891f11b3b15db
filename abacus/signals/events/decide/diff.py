"""A source in words, and beside the others: topics that it would share. Pure."""

from collections.abc import Iterable, Iterator

from abacus.core.fields import Fault
from abacus.signals.events.decide.places import Always, IdPlace, Places, TimeFormat
from abacus.signals.events.decide.source import Source, substream_topic


def described(source: Source) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    yield "topic", source.topic or "none; events come by HTTP alone"
    if source.substream:
        yield "substream", "the types that are asked for"
    for sender in sorted(source.senders):
        yield f"senders.{sender}", "may post events"
    if source.places is not None:
        yield from _places(source.places)
    for type_, variables in sorted(source.variables.items()):
        yield f"types.{type_}", "taken"
        for name, variable in sorted(variables.items()):
            yield f"types.{type_}.{name}", f"{variable.type} at {variable.pointer.text}"


def _places(places: Places) -> Iterator[tuple[str, str]]:
    yield "fields.type", f"always {places.type.type}" if isinstance(places.type, Always) else places.type.text
    yield "fields.id", _id(places.id)
    for type_, place in sorted(places.ids.items()):
        yield f"fields.ids.{type_}", _id(place)
    lat, lon = places.coordinates or (None, None)
    for name, pointer in (("member", places.member), ("country", places.country), ("lat", lat), ("lon", lon)):
        if pointer is not None:
            yield f"fields.{name}", pointer.text
    written = "" if places.time_format is TimeFormat.RFC3339 else f" as {places.time_format}"
    yield "fields.time", f"{places.time.text}{written}"


def _id(place: IdPlace) -> str:
    return " and ".join(pointer.text for pointer in place)


def faults_beside(draft: Source, others: Iterable[Source], events_topic: str) -> list[Fault]:
    """What keeps the draft from being published beside the others, of which these are the latest versions."""
    faults = []
    if draft.topic == events_topic:
        faults.append(Fault("topic", f"{events_topic} has the events of all sources, in a form of its own"))
    if draft.topic is not None and draft.topic.startswith(substream_topic("", events_topic)):
        faults.append(Fault("topic", f"the topics that begin with {substream_topic('', events_topic)} are sub-streams"))
    for other in sorted(others, key=lambda each: each.name):
        if other.name == draft.name and other.substream != draft.substream:
            faults.append(Fault("substream", "cannot change, or events would count twice; publish another source"))
        if other.name != draft.name and other.topic is not None and other.topic == draft.topic:
            faults += _faults_on_one_topic(draft, other)
    return faults


def _faults_on_one_topic(draft: Source, other: Source) -> Iterator[Fault]:
    if _takes_all(draft) or _takes_all(other):
        all_, one = (draft, other) if _takes_all(draft) else (other, draft)
        yield Fault("topic", f"{all_.name} takes every message of {draft.topic}, so {one.name} cannot take any")
        return
    for type_ in sorted(draft.variables.keys() & other.variables.keys()):
        yield Fault(f"types.{type_}", f"{other.name} takes it from {draft.topic} already")
    if draft.substream and _has_coordinates(other):
        yield Fault("substream", f"copies messages of {draft.topic}, whose coordinates {other.name} reads")
    if other.substream and _has_coordinates(draft):
        yield Fault("fields.lat", f"{other.name} copies messages of {draft.topic}, and coordinates are never kept")


def _takes_all(source: Source) -> bool:
    return source.places is not None and isinstance(source.places.type, Always)


def _has_coordinates(source: Source) -> bool:
    return source.places is not None and source.places.coordinates is not None
