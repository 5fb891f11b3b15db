"""The changes that a new version of a source makes, in words. Pure."""

from collections.abc import Iterator

from abacus.documents.decide.change_words import all_parts, changed_parts
from abacus.signals.events.decide.places import Always, IdPlace, Places, TimeFormat
from abacus.signals.events.decide.source import Source


def describe_changes(old: Source | None, new: Source) -> list[str]:
    """One line a change; none when the sources are equal but for their versions. Without an old source, everything is
    new.
    """
    now = dict(described(new))
    return all_parts(new.name, now) if old is None else changed_parts(dict(described(old)), now)


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
    for name, pointer in (("member", places.member), ("country", places.country)):
        if pointer is not None:
            yield f"fields.{name}", pointer.text
    written = "" if places.time_format is TimeFormat.RFC3339 else f" as {places.time_format}"
    yield "fields.time", f"{places.time.text}{written}"


def _id(place: IdPlace) -> str:
    return " and ".join(pointer.text for pointer in place)
