"""The checklist of a month's close: each thing that a close looks at, and whether it stands in the way. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abacus.oversight.closing.decide.obstacles import ACCEPTABLE

# In the order in which people do them: what each is, where it is mended, and the words of that link.
_ITEMS: Final[Mapping[str, tuple[str, str, str]]] = {
    "not-over": ("The month is over in every country", "", ""),
    "accounts": ("Every movement has its accounts", "/finance/accounts", "Publish the accounts"),
    "cost": ("Every point has a cost", "/finance/assumptions", "Set the cost of a point"),
    "expiry": ("The ends of earlier months are done", "#expiry", "Run what is due"),
    "seal": ("A seal covers the month's end", "#seal", "Seal the ledger"),
    "reconcile": ("Every message of the month is accounted for", "#messages", "Account for the messages"),
    "quarantine": ("Nothing that came by the month's end is set aside", "/quarantine", "Look at what is set aside"),
    "exchange": ("Every exchange of the month is settled", "", ""),
    "not-tied": (
        "The books tie to the accounts",
        "/finance/reports/rollforward?month={month}",
        "Look at the roll-forward",
    ),
    "not-verified": ("Every row of the ledger is proven", "/trust", "Verify the ledger"),
}


@dataclass(frozen=True)
class Item:
    """`stands` is None before a check. What is acceptable may be accepted with a reason. `page` is where it is mended,
    and `there` the words of the link.
    """

    name: str
    title: str
    stands: bool | None
    said: Sequence[str]
    acceptable: bool
    accepted: bool
    page: str
    there: str


def checklist(document: Mapping[str, Any] | None, month: str) -> list[Item]:
    """By what a check printed."""
    obstacles = document["obstacles"] if document is not None else ()
    found = []
    for name, (title, page, there) in _ITEMS.items():
        these = [each for each in obstacles if each["name"] == name]
        found.append(
            Item(
                name=name,
                title=title,
                stands=None if document is None else bool(these),
                said=[each["said"] for each in these],
                acceptable=name in ACCEPTABLE,
                accepted=bool(these) and not any(each["left"] for each in these),
                page=page.format(month=month),
                there=there,
            )
        )
    return found
