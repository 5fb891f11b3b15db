"""The context of an entry as people type it: a field for each that the journey has, of its type."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from abacus.console.decide.form_field import FormField
from abacus.console.pages.journeys.variable_fields import variable_field, variable_of
from abacus.console.web.forms import Form
from abacus.core.fields import Fault
from abacus.engage.journeys.decide.journey import Journey
from abacus.signals.events.types import VariableType

_BEFORE: Final = "context-"  # the name of a field
_MISSING: Final = "missing"  # as a reader of contexts says it


def context_fields(journey: Journey) -> Sequence[FormField]:
    return [
        variable_field(f"{_BEFORE}{name}", name.replace("_", " ").capitalize(), type_, journey.zone)
        for name, type_ in journey.context.items()
    ]


def context_of(typed: Form, journey: Journey) -> dict[str, Any]:
    """As JSON has it; what does not fit its type stays a text, which is refused by its name, as is what is missing."""
    found = {name: typed.get(f"{_BEFORE}{name}") for name in journey.context}
    return {
        name: variable_of(text, journey.context[name], journey.zone)
        for name, text in found.items()
        if text or journey.context[name] is VariableType.TEXT
    }


def with_faults(typed: Form, faults: Iterable[Fault]) -> Form:
    """Each fault of a context at its field."""
    wrong = {f"{_BEFORE}{each.path.removeprefix('/')}": _sentence(each.message) for each in faults}
    return typed.but(**wrong)


def _sentence(message: str) -> str:
    if message == _MISSING:
        return "Fill this in."
    return f"{message[:1].upper()}{message[1:]}."
