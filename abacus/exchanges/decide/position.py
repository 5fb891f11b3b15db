"""What both houses owe each other, entry by entry. Pure.

The balance is what the house has at the partner's disposal: what was paid in advance, less what its points bought, and
more what the partner's points bought here. It is below zero where the house owes the partner.
"""

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from abacus.exchanges.decide.programme import Credit, Direction, Money, Offered


class EntryKind(StrEnum):
    """What an entry of a position is for."""

    HELD = "held"  # points are held to be sent: their money is spoken for
    RELEASED = "released"
    CAPTURED = "captured"  # the partner has credited: what was spoken for is spent
    REVERSED = "reversed"  # the partner has debited again
    AWARDED = "awarded"  # the house has credited what came in
    PAYMENT = "payment"  # money that was paid; below zero where the partner paid
    CORRECTION = "correction"  # a person closed a break


class Entry(NamedTuple):
    """A row, never changed. Entries of a programme are numbered without a gap. `money` is what it is about: `change`
    says by how much it changes the balance.
    """

    programme: str
    n: int
    at: datetime
    kind: EntryKind
    direction: Direction | None
    exchange_id: UUID | None
    document: str | None  # the payment's reference, or the break's id
    points: int
    theirs: int
    money: Decimal
    currency: str
    balance_after: Decimal
    by: str
    reason: str | None


_SIGN: Final = {
    EntryKind.HELD: -1,
    EntryKind.RELEASED: 1,
    EntryKind.CAPTURED: 0,
    EntryKind.REVERSED: 1,
    EntryKind.AWARDED: 1,
    EntryKind.PAYMENT: 1,
    EntryKind.CORRECTION: 1,
}


def worth(offered: Offered, theirs: int, points: int, direction: Direction) -> Decimal:
    """The money for what the taker credits: the partner's points of what goes out, ours of what comes in."""
    return offered.price * (theirs if direction is Direction.OUT else points)


def change(kind: EntryKind, money: Decimal) -> Decimal:
    """By how much an entry changes the balance."""
    return _SIGN[kind] * money


def can_hold(terms: Money, balance: Decimal, money: Decimal) -> bool:
    """Whether so much may be spoken for: a prefund is not overdrawn, and a credit limit not passed."""
    least = -terms.terms.limit if isinstance(terms.terms, Credit) else Decimal(0)
    return balance - money >= least
