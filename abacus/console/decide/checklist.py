"""The checklist of a month's close: each thing that a close looks at, and whether it stands in the way. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abacus.oversight.closing.decide.obstacles import ACCEPTABLE

# In the order in which people do them: what each is, and where it is mended.
_ITEMS: Final[Mapping[str, tuple[str, str | None]]] = {
    "not-over": ("The month is over in every country", None),
    "expiry": ("The ends of earlier months are done", "/operations"),
    "quarantine": ("Nothing that came by the month's end is set aside", "/quarantine"),
    "reconcile": ("Every message of the month is accounted for", "/trust"),
    "not-tied": ("The books tie to the accounts", "/finance/reports/rollforward"),
    "seal": ("A seal covers the month's end", "/trust"),
    "not-verified": ("Every row of the ledger is proven", "/trust"),
}


@dataclass(frozen=True)
class Item:
    """`stands` is None before a check. What is acceptable may be accepted with a reason."""

    name: str
    title: str
    stands: bool | None
    said: Sequence[str]
    acceptable: bool
    accepted: bool
    page: str | None


def checklist(document: Mapping[str, Any] | None) -> list[Item]:
    """By what a check printed."""
    obstacles = document["obstacles"] if document is not None else ()
    found = []
    for name, (title, page) in _ITEMS.items():
        these = [each for each in obstacles if each["name"] == name]
        found.append(
            Item(
                name=name,
                title=title,
                stands=None if document is None else bool(these),
                said=[each["said"] for each in these],
                acceptable=name in ACCEPTABLE,
                accepted=bool(these) and not any(each["left"] for each in these),
                page=page,
            )
        )
    return found
