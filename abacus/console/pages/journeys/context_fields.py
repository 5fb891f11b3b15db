"""The context of an entry as people type it: a field for each that the journey has, of its type."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.form_field import FormField
from abacus.console.web.forms import Form
from abacus.core.fields import Fault
from abacus.engage.journeys.decide.journey import Journey
from abacus.signals.events.types import VariableType

MINUTES: Final = "%Y-%m-%dT%H:%M"  # as browsers send a time
_BEFORE: Final = "context-"  # the name of a field
_MISSING: Final = "missing"  # as a reader of contexts says it
_WHOLE: Final = re.compile("-?[0-9]{1,19}")
_YES_OR_NO: Final = (("", "choose"), ("true", "yes"), ("false", "no"))
_INPUT_MODES: Final = {VariableType.INTEGER: "numeric", VariableType.DECIMAL: "decimal"}
_HINTS: Final[Mapping[VariableType, str]] = {
    VariableType.INTEGER: "A whole number.",
    VariableType.DECIMAL: "A number, such as 12.50.",
    VariableType.TEXTS: "Texts, with commas between.",
}


def context_fields(journey: Journey) -> Sequence[FormField]:
    return [
        FormField(
            f"{_BEFORE}{name}",
            name.replace("_", " ").capitalize(),
            hint=str(journey.zone) if type_ is VariableType.TIME else _HINTS.get(type_),
            type="datetime-local" if type_ is VariableType.TIME else "text",
            options=_YES_OR_NO if type_ is VariableType.BOOLEAN else None,
            inputmode=_INPUT_MODES.get(type_),
        )
        for name, type_ in journey.context.items()
    ]


def context_of(typed: Form, journey: Journey) -> dict[str, Any]:
    """As JSON has it; what does not fit its type stays a text, which is refused by its name, as is what is missing."""
    found = {name: typed.get(f"{_BEFORE}{name}") for name in journey.context}
    return {
        name: _value(text, journey.context[name], journey.zone)
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


def _value(text: str, type_: VariableType, zone: ZoneInfo) -> object:
    match type_:
        case VariableType.INTEGER if _WHOLE.fullmatch(text):
            return int(text)
        case VariableType.BOOLEAN if text in {"true", "false"}:
            return text == "true"
        case VariableType.TEXTS:
            return [each.strip() for each in text.split(",") if each.strip()]
        case VariableType.TIME:
            return _time(text, zone)
        case _:
            return text


def _time(text: str, zone: ZoneInfo) -> str:
    try:
        return datetime.strptime(text, MINUTES).replace(tzinfo=zone).isoformat()
    except ValueError:
        return text
