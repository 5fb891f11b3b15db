"""What a document about events can choose from: their types, their variables, and the left sides of its rules. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from abacus.core.fields import Bad
from abacus.documents.form.types import Option, Side
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary, event_type_of
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.document import OPERATORS
from abacus.signals.rules.decide.place_sides import places_of
from abacus.signals.rules.decide.sides import sides_of_event

_ABOUT: Final = "the event"
_SHOWN: Final = 3  # real values beside a variable


def type_options(sources: Mapping[str, Source]) -> list[Option]:
    """All types of events, under their sources."""
    types = sorted((name, type_) for name, source in sources.items() for type_ in source.types)
    return [Option(f"{source}/{type_}", type_, source) for source, type_ in types]


def types_named(on: object, sources: Mapping[str, Source]) -> list[EventType]:
    """The types of events that a draft names, without those that are at fault."""
    found: list[EventType] = []
    for each in on if isinstance(on, list | tuple) else ():
        try:
            found.append(event_type_of(str(each), sources))
        except Bad:
            continue
    return found


def event_sides(on: Iterable[EventType], sources: Mapping[str, Source], regions: Collection[str]) -> Mapping[str, Side]:
    """The left sides of events of these types; none where there is no type."""
    types = list(on)
    vocabulary = Vocabulary(types, sources)
    sides = sides_of_event(vocabulary.any(), places_of(vocabulary, regions)) if types else {}
    return {text: side(text, type_, _ABOUT) for text, type_ in sides.items()}


def side(
    text: str,
    type_: VariableType,
    about: str,
    *,
    real: Sequence[str] = (),
    likely: Sequence[str] = (),
    argument: str | None = None,
) -> Side:
    """Values that are `real` stand beside its name, and before those that are likely."""
    name = text.partition(".")[2].partition("(")[0]
    such_as = f", such as {', '.join(real[:_SHOWN])}" if real else ""
    return Side(
        text=text,
        words=f"{name} ({type_}){such_as}",
        type=type_.value,
        operators=[each.value for each in OPERATORS[type_]],
        examples=list(dict.fromkeys([*real, *likely])),
        about=about,
        argument=argument,
    )
