"""What a look-up is asked for, and what it tells. Pure."""

from enum import Enum
from typing import Final, Literal, Protocol, TypeAlias, TypeVar

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.at_least import AtLeast
from abacus.signals.rules.decide.types import Facts, Side

SubjectT = TypeVar("SubjectT", bound="Subject")


class _Told(Enum):
    NOT_NOW = "not now"


# Instead of a value: it cannot be told now, and may be later.
NotNow: TypeAlias = Literal[_Told.NOT_NOW]
NOT_NOW: Final = _Told.NOT_NOW

Found: TypeAlias = Value | AtLeast | NotNow | None


class Subject(Protocol):
    """For whom a rule is decided, by which facts. What else a look-up needs, it asks of its own kind of subjects."""

    @property
    def facts(self) -> Facts: ...


Wish: TypeAlias = tuple[SubjectT, Side]
