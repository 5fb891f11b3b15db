"""Lists by cursor: the place after which the next page begins, as text for an address."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeAlias, TypeVar
from uuid import UUID

from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault

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
        at, _, id_ = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(" ")
        place = datetime.fromisoformat(at), id_of(id_)
    except ValueError:
        raise PageFault("not-found", "There is no such page of this list.") from None
    if place[0].tzinfo is None:
        raise PageFault("not-found", "There is no such page of this list.")
    return place


def rows_of(call: Call, found: Sequence[Row], most: int, place: Callable[[Row], Place[Id]]) -> Rows[Row]:
    """A page out of one row more than it may have."""
    if len(found) <= most:
        return Rows(found)
    at, id_ = place(found[most - 1])
    after = base64.urlsafe_b64encode(f"{at.isoformat()} {id_}".encode()).rstrip(b"=").decode()
    return Rows(found[:most], call.next_page(after))
