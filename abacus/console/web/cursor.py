"""Lists by cursor: the place after which the next page begins, as text for an address."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from abacus.console.web.faults import PageFault

Row = TypeVar("Row")


class ListCursor(NamedTuple):
    """The row behind which a page begins, in lists that are ordered by time, the newest first, and then by id."""

    at: datetime
    id: UUID

    def text(self) -> str:
        return base64.urlsafe_b64encode(f"{self.at.isoformat()} {self.id}".encode()).rstrip(b"=").decode()


@dataclass(frozen=True)
class Rows(Generic[Row]):
    """One page of a list. `more` is the address of the next one."""

    rows: Sequence[Row]
    more: str | None = None


def place_of(text: str | None) -> ListCursor | None:
    """Raises `PageFault` for a cursor that is none of ours."""
    if not text:
        return None
    try:
        at, _, id_ = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().partition(" ")
        place = ListCursor(datetime.fromisoformat(at), UUID(id_))
    except ValueError:
        raise PageFault("not-found", "There is no such page of this list.") from None
    if place.at.tzinfo is None:
        raise PageFault("not-found", "There is no such page of this list.")
    return place


def rows_of(
    found: Sequence[Row], most: int, place: Callable[[Row], ListCursor], address: Callable[[str], str]
) -> Rows[Row]:
    """A page out of one row more than it may have."""
    if len(found) <= most:
        return Rows(found)
    return Rows(found[:most], address(place(found[most - 1]).text()))
