"""Reading point events, as the points stream's followers do: bytes in, typed values out. Pure.

All of an event is checked here but its explanation, which is most of the event: who needs it reads it besides.
"""

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, NotRequired

from pydantic import AwareDatetime, Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Unreadable
from abacus.core.ids import ID_PATTERN, KEY_PATTERN, PROGRAM_PATTERN
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.point_event import TYPES
from abacus.platform.validation import first_fault

_LARGEST: Final = 2**63 - 1

# Checked as the rest of the event is read, without a call into Python for each: followers read tens of thousands a
# second.
_Time = Annotated[
    AwareDatetime, Field(strict=True, ge=datetime(2000, 1, 1, tzinfo=UTC), lt=datetime(2100, 1, 1, tzinfo=UTC))
]
_Day = Annotated[date, Field(strict=True, ge=date(2000, 1, 1), lt=date(2110, 1, 1))]
_Points = Annotated[int, Field(strict=True, ge=-_LARGEST, le=_LARGEST)]


class PointData(TypedDict):
    """What happened to the account. `kind` is text, so that an event of a later version can be read."""

    member_id: Annotated[str, StringConstraints(pattern=ID_PATTERN)]
    program: Annotated[str, StringConstraints(pattern=PROGRAM_PATTERN)]
    seq: Annotated[int, Field(strict=True, ge=1, le=_LARGEST)]
    key: str
    kind: str
    points: _Points
    balance: _Points
    country: Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
    occurred_at: _Time
    expires_on: _Day | None
    # Events that were published before transfers had these lack them.
    source: NotRequired[str | None]
    lifetime: NotRequired[bool | None]
    vests_on: NotRequired[_Day | None]


class ReadEvent(TypedDict):
    """An event of the points stream. Fields that it has beside these are passed over."""

    type: str
    data: PointData
    id: Annotated[str, StringConstraints(pattern=KEY_PATTERN)]
    time: _Time


class _Typed(TypedDict):
    type: str


class _Explained(TypedDict):
    explanation: dict[str, Any]


class _WithExplanation(TypedDict):
    data: _Explained


# The validators themselves: an adapter's method costs a tenth of the reading.
_EVENT: Final = TypeAdapter(ReadEvent).validator
_TYPED: Final = TypeAdapter(_Typed).validator
_WITH_EXPLANATION: Final = TypeAdapter(_WithExplanation)


def read_point_event(event: bytes, *, values_shown: bool = True) -> ReadEvent:
    """Of whatever type. Raises `Unreadable`, which names the first fault, and its value where values may be shown."""
    try:
        read: ReadEvent = _EVENT.validate_json(event)
    except ValidationError as error:
        raise _unreadable(error, values_shown=values_shown) from None
    return read


def read_explanation(event: bytes) -> dict[str, Any]:
    """How the points came about. Raises `Unreadable`."""
    try:
        return _WITH_EXPLANATION.validate_json(event)["data"]["explanation"]
    except ValidationError as error:
        raise _unreadable(error, values_shown=True) from None


def type_of(event: bytes) -> str | None:
    """The type that an event says it has; nothing where it says none."""
    try:
        type_: str = _TYPED.validate_json(event)["type"]
    except ValidationError:
        return None
    return type_


class PointEventReader:
    """Reads the events of some kinds of transfers. Of an event of another type nothing but the type is looked at."""

    def __init__(self, *kinds: TransferKind, values_shown: bool = True) -> None:
        self._types = frozenset(TYPES[kind] for kind in kinds)
        self._named = re.compile(b"|".join(re.escape(type_.encode()) for type_ in self._types))
        self._values_shown = values_shown

    def __call__(self, event: bytes) -> ReadEvent | None:
        """Nothing for an event of another type. Raises `Unreadable`."""
        if self._named.search(event) is None and self._is_of_another_type(event):  # to search costs less than to read
            return None
        try:
            read = read_point_event(event, values_shown=self._values_shown)
        except Unreadable:
            if self._is_of_another_type(event):
                return None
            raise
        return read if read["type"] in self._types else None

    def _is_of_another_type(self, event: bytes) -> bool:
        return type_of(event) not in {None, *self._types}


def _unreadable(error: ValidationError, *, values_shown: bool) -> Unreadable:
    return Unreadable(f"not a point event: {first_fault(error, shown=values_shown)}")
