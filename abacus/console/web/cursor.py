"""Lists by cursor: the place after which the next page begins, as text for an address."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeAlias, TypeVar
from uuid import UUID

from abacus.console.decide.typed import exact_moment
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.packed import packed, unpacked

Row = TypeVar("Row")
Id = TypeVar("Id", UUID, str)

# The row behind which a page begins, in lists that are ordered by time, the newest first, and then by id.
Place: TypeAlias = tuple[datetime, Id]


@dataclass(frozen=True)
class Rows(Generic[Row]):
    """One page of a list. `more` is the address of the next one."""

    rows: Sequence[Row]
    more: str | None = None


def place_of(call: Call, id_of: Callable[[str], Id]) -> Place[Id] | None:
    """Where the page of the address begins. Raises `PageFault` for a cursor that is none of ours."""
    text = call.asked("after")
    if text is None:
        return None
    try:
        at, name = unpacked(text)
        moment, id_ = exact_moment(at), id_of(name)
    except (AttributeError, TypeError, ValueError):
        raise PageFault("not-found", "There is no such page of this list.") from None
    if moment is None:
        raise PageFault("not-found", "There is no such page of this list.")
    return moment, id_


def rows_of(call: Call, found: Sequence[Row], most: int, place: Callable[[Row], Place[Id]]) -> Rows[Row]:
    """A page out of one row more than it may have."""
    if len(found) <= most:
        return Rows(found)
    at, id_ = place(found[most - 1])
    return Rows(found[:most], call.next_page(packed([at.isoformat(), str(id_)])))
