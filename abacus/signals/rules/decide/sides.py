"""The left sides of conditions that facts themselves have: an event, a request. Pure."""

import difflib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from abacus.core.fields import Bad, quoted
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.place_sides import PLACE, PlaceSides
from abacus.signals.rules.decide.types import FactPlace, Side

# From the text of a left side to what it means. Raises `Bad` for a text that means nothing. A resolver that cannot
# judge a text, because the variables are not known, gives None: that is no fault of the text.
Resolver: TypeAlias = Callable[[str], Side | None]

_VARIABLE: Final = "var."


class FactsKind(NamedTuple):
    """A kind of facts: what people call them, and the left sides that all of them have, each with the name of the field
    that holds its value, and its type.
    """

    called: str
    fields: Mapping[str, tuple[str, VariableType]]


EVENTS: Final = FactsKind(
    "the events",
    {
        "event.source": ("source", VariableType.TEXT),
        "event.type": ("type", VariableType.TEXT),
        "event.id": ("id", VariableType.TEXT),
        "event.member_id": ("member_id", VariableType.TEXT),
        "event.country": ("country", VariableType.TEXT),
        "event.occurred_at": ("occurred_at", VariableType.TIME),
        # No variable has these names, so these can mean the event's own as well.
        "var.member_id": ("member_id", VariableType.TEXT),
        "var.country": ("country", VariableType.TEXT),
    },
)


def of_facts(kind: FactsKind, variables: Mapping[str, VariableType]) -> Callable[[str], Side]:
    """The left sides of facts of this kind with these variables."""

    def resolve(text: str) -> Side:
        if text in kind.fields:
            name, type_ = kind.fields[text]
            return Side(text, type_, FactPlace.FIELD, name)
        name = text.removeprefix(_VARIABLE)
        if name != text and name in variables:
            return Side(text, variables[name], FactPlace.VARIABLE, name)
        near = difflib.get_close_matches(text, [*kind.fields, *(_VARIABLE + each for each in variables)], n=1)
        hint = f"did you mean {near[0]}?" if near else _what_there_is(kind, variables)
        raise Bad(f"{quoted(text)} is unknown here; {hint}")

    return resolve


def of_event(variables: Mapping[str, VariableType], places: PlaceSides | None = None) -> Callable[[str], Side]:
    """The left sides `event.*` and `var.*` of events with these variables, and `place.*` where they have places."""
    of_fields = of_facts(EVENTS, variables)
    if places is None:
        return of_fields
    return lambda text: places.side(text) if text.startswith(PLACE) else of_fields(text)


def of_unknown_event(text: str) -> Side | None:
    """A left side of events whose variables are not known. Raises `Bad`."""
    if text.startswith(PLACE) or (text.startswith(_VARIABLE) and text not in EVENTS.fields):
        return None
    return of_event({})(text)


def sides_of_event(
    variables: Mapping[str, VariableType], places: PlaceSides | None = None
) -> Mapping[str, VariableType]:
    """All left sides that `of_event` knows, with their types."""
    where = {each.text: each.type for each in places.there_are()} if places is not None else {}
    own = {text: type_ for text, (_, type_) in EVENTS.fields.items()}
    return {**{_VARIABLE + name: type_ for name, type_ in sorted(variables.items())}, **own, **where}


def _what_there_is(kind: FactsKind, variables: Mapping[str, VariableType]) -> str:
    if not variables:
        return f"{kind.called} have no variables; there are {', '.join(kind.fields)}"
    return f"{kind.called} have {', '.join(_VARIABLE + each for each in sorted(variables))}"
