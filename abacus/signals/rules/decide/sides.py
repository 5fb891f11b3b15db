"""The left sides of conditions that an event itself has. Pure."""

import difflib
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from abacus.core.fields import Bad, quoted
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.types import Place, Side

# From the text of a left side to what it means. Raises `Bad` for a text that means nothing. Who knows more left sides
# than an event has writes another resolver, which hands on to `of_event` what is not its own. One that lacks what it
# would judge by answers with nothing: that is no fault of the text.
Resolver: TypeAlias = Callable[[str], Side | None]

_VARIABLE: Final = "var."
_FIELDS: Final[Mapping[str, tuple[str, VariableType]]] = {
    "event.source": ("source", VariableType.TEXT),
    "event.type": ("type", VariableType.TEXT),
    "event.id": ("id", VariableType.TEXT),
    "event.member_id": ("member_id", VariableType.TEXT),
    "event.country": ("country", VariableType.TEXT),
    "event.occurred_at": ("occurred_at", VariableType.TIME),
    # No variable has these names, so these can mean the event's own as well.
    "var.member_id": ("member_id", VariableType.TEXT),
    "var.country": ("country", VariableType.TEXT),
}


def of_event(variables: Mapping[str, VariableType]) -> Callable[[str], Side]:
    """The left sides `event.*` and `var.*` of events with these variables."""

    def resolve(text: str) -> Side:
        if text in _FIELDS:
            name, type_ = _FIELDS[text]
            return Side(text, type_, Place.EVENT, name)
        name = text.removeprefix(_VARIABLE)
        if name != text and name in variables:
            return Side(text, variables[name], Place.VARIABLE, name)
        known = [*_FIELDS, *(_VARIABLE + each for each in variables)]
        near = difflib.get_close_matches(text, known, n=1)
        raise Bad(
            f"{quoted(text)} is unknown here; {f'did you mean {near[0]}?' if near else _what_there_is(variables)}"
        )

    return resolve


def of_unknown_event(text: str) -> Side | None:
    """A left side of events whose variables are not known. Raises `Bad`."""
    if text.startswith(_VARIABLE) and text not in _FIELDS:
        return None
    return of_event({})(text)


def sides_of_event(variables: Mapping[str, VariableType]) -> Mapping[str, VariableType]:
    """All left sides that `of_event` knows, with their types."""
    own = {text: type_ for text, (_, type_) in _FIELDS.items()}
    return {**{_VARIABLE + name: type_ for name, type_ in sorted(variables.items())}, **own}


def _what_there_is(variables: Mapping[str, VariableType]) -> str:
    if not variables:
        return f"the events have no variables; there are {', '.join(_FIELDS)}"
    return f"the events have {', '.join(_VARIABLE + each for each in sorted(variables))}"
