"""Errors by consequence: each class says how to handle it.

`Unavailable` means try again later, `SetAside` put this one item into the quarantine and go on, `Unreadable` count and
log this one event and go on, `Refused` tell the caller no, `LineStopped` stop this worker and let a person look.
"""

from enum import StrEnum
from typing import Final


class AbacusError(Exception):
    """The root of every error that Abacus raises on purpose."""


class Unavailable(AbacusError):
    """A dependency does not answer. Nothing is wrong with the work in hand: wait, then try again."""

    def __init__(self, dependency: str, detail: str) -> None:
        super().__init__(dependency, detail)  # so that it can be sent from one process to another
        self.dependency = dependency
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.dependency} unavailable: {self.detail}"


class Reason(StrEnum):
    """Why an item was set aside. The list is closed: metrics and reports count by it."""

    UNDECODABLE = "undecodable"  # not JSON, not UTF-8, or larger than any transaction can be
    INVALID = "invalid"  # JSON, but a field is missing or has no meaning
    UNKNOWN_COUNTRY = "unknown-country"  # no rate card has this scope
    NO_CARD_IN_FORCE = "no-card-in-force"  # the country has cards, but none that early
    IN_THE_FUTURE = "in-the-future"  # it says that it happens more than five minutes from now
    UNKNOWN_VERTICAL = "unknown-vertical"
    UNKNOWN_PAYMENT_TYPE = "unknown-payment-type"
    UNKNOWN_CURRENCY = "unknown-currency"  # not the currency of the country's card
    UNKNOWN_PROGRAM = "unknown-program"  # no rate card issues these points there
    UNKNOWN_SOURCE = "unknown-source"  # nobody of this name gives points by the award queue; no such source of events
    UNKNOWN_TIER = "unknown-tier"  # the member has a tier that the card does not price
    OUT_OF_RANGE = "out-of-range"  # more points than one award may carry, or a balance can hold
    UNSUPPORTED = "unsupported"  # a known message that this version does not process yet
    KEY_CONFLICT = "key-conflict"  # the key is posted already, for other facts
    RETRIES_EXHAUSTED = "retries-exhausted"  # its dependency stayed down for too long
    UNVOUCHED = "unvouched"  # its envelope is not signed with the key of a producer that may say so
    UNPOSTABLE = "unpostable"  # the ledger refused this award and took its neighbours


# What a card lacks that another card, published later, may have.
OF_CARDS: Final = frozenset(
    {
        Reason.UNKNOWN_COUNTRY,
        Reason.NO_CARD_IN_FORCE,
        Reason.UNKNOWN_VERTICAL,
        Reason.UNKNOWN_PAYMENT_TYPE,
        Reason.UNKNOWN_CURRENCY,
        Reason.UNKNOWN_TIER,
    }
)


class SetAside(AbacusError):
    """One item cannot be processed, and trying again would not help: quarantine it with its reason."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Unreadable(AbacusError):
    """An event lacks a field that a follower of its topic needs: it is passed over, and its topic keeps it."""


class Refused(AbacusError):
    """The caller's request cannot be done; the message says why and how to mend it."""


class Absent(Refused):
    """What the caller names, or wants to see, is not there. A command ends with 1."""


def absent(thing: str, name: object, remedy: str = "") -> Absent:
    """The one sentence for what nobody knows: `there is no partner 'acme'; …`."""
    return Absent(f"there is no {thing} {str(name)!r}" + (f"; {remedy}" if remedy else ""))


class LineStopped(AbacusError):
    """Nearly everything is bad, so the fault is probably ours: the worker stops before it sets the stream aside."""


class RightMissing(LineStopped):
    """A login lacks a right that the work needs. Waiting does not help: the worker stops until somebody grants it."""
