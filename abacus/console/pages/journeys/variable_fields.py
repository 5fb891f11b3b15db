"""Variables as people type them: a field of the variable's type, and what was typed as JSON has it."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from abacus.console.decide.form_field import FormField
from abacus.signals.events.types import VariableType

MINUTES: Final = "%Y-%m-%dT%H:%M"  # as browsers send a time
_WHOLE: Final = re.compile("-?[0-9]{1,19}")
_YES_OR_NO: Final = (("", "choose"), ("true", "yes"), ("false", "no"))
_INPUT_MODES: Final = {VariableType.INTEGER: "numeric", VariableType.DECIMAL: "decimal"}
_HINTS: Final[Mapping[VariableType, str]] = {
    VariableType.INTEGER: "A whole number.",
    VariableType.DECIMAL: "A number, such as 12.50.",
    VariableType.TEXTS: "Texts, with commas between.",
}


def variable_field(name: str, label: str, type_: VariableType, zone: ZoneInfo) -> FormField:
    return FormField(
        name,
        label,
        hint=str(zone) if type_ is VariableType.TIME else _HINTS.get(type_),
        type="datetime-local" if type_ is VariableType.TIME else "text",
        options=_YES_OR_NO if type_ is VariableType.BOOLEAN else None,
        inputmode=_INPUT_MODES.get(type_),
    )


def variable_of(text: str, type_: VariableType, zone: ZoneInfo) -> object:
    """What does not fit the type stays a text."""
    match type_:
        case VariableType.INTEGER if _WHOLE.fullmatch(text):
            return int(text)
        case VariableType.BOOLEAN if text in {"true", "false"}:
            return text == "true"
        case VariableType.TEXTS:
            return [each.strip() for each in text.split(",") if each.strip()]
        case VariableType.TIME:
            return moment_of(text, zone) or text
        case _:
            return text


def moment_of(text: str, zone: ZoneInfo) -> str | None:
    """None of what is no time as browsers send it."""
    try:
        return datetime.strptime(text, MINUTES).replace(tzinfo=zone).isoformat()
    except ValueError:
        return None
