"""Values that were looked up for a member, as the trail keeps them. Pure."""

from typing import Any, Final

from abacus.engage.journeys.decide.context import written as written_value
from abacus.signals.events.decide.values import READERS
from abacus.signals.events.types import Value, VariableType
from abacus.signals.rules.decide.at_least import AtLeast

_AT_LEAST: Final = "at_least"


def written(value: Value | AtLeast | None) -> object:
    """As JSON has it."""
    if isinstance(value, AtLeast):
        return {_AT_LEAST: value.least}
    return None if value is None else written_value(value)


def read(kept: Any, type_: VariableType) -> Value | AtLeast | None:
    """What was written. Raises `Wrong` for a value of another type."""
    if isinstance(kept, dict):
        return AtLeast(int(kept[_AT_LEAST]))
    return None if kept is None else READERS[type_](kept)
