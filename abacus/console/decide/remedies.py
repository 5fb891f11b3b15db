"""What to do about items that were set aside, by their reason. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.core.errors import OF_CARDS, Reason

_CARD: Final = "Publish a rate card that has it, then replay."
_OTHERS: Final[Mapping[Reason, str]] = {
    Reason.UNDECODABLE: "Its sender has to send it again, readable; a replay does not help.",
    Reason.INVALID: "Its sender has to mend it and send it again.",
    Reason.IN_THE_FUTURE: "See the sender's clock; replay when that time has come.",
    Reason.UNKNOWN_PROGRAM: "Publish a rate card that issues these points there, then replay.",
    Reason.UNKNOWN_SOURCE: "Publish the source or create the partner, then replay.",
    Reason.OUT_OF_RANGE: "See the amount with its sender: no account can hold that number of points.",
    Reason.UNSUPPORTED: "Upgrade the workers, then replay.",
    Reason.KEY_CONFLICT: "Compare it with what is posted under the key; its sender has to use another key.",
    Reason.RETRIES_EXHAUSTED: "See that the dependency is back, then replay.",
    Reason.UNVOUCHED: "See who sent it: its signature is not that of a producer that may say so.",
    Reason.UNPOSTABLE: "See the ledger's fault in the detail, mend the cause, then replay.",
}


# Where the cause is mended in the console: the page, and what its link says.
_PLACES: Final[Mapping[Reason, tuple[str, str]]] = {
    Reason.UNKNOWN_PROGRAM: ("/rates", "Mend the rate card"),
    Reason.UNKNOWN_SOURCE: ("/partners", "Enter the partner"),
    Reason.RETRIES_EXHAUSTED: ("/operations", "See what is down"),
    Reason.UNPOSTABLE: ("/operations", "See what is down"),
}


def mended_at(reason: Reason) -> tuple[str, str] | None:
    return ("/rates", "Mend the rate card") if reason in OF_CARDS else _PLACES.get(reason)


def remedy_of(reason: Reason) -> str:
    return _CARD if reason in OF_CARDS else _OTHERS[reason]
