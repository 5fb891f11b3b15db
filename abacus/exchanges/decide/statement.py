"""The statement of a month: both directions gross, netted, and billed once. Pure.

A statement covers entries of a position by their numbers, beginning behind the statement before it: each entry is
billed once, whatever the clocks of those who wrote it say.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from abacus.exchanges.decide.position import Entry, EntryKind, change


class Gross(NamedTuple):
    """What was exchanged one way."""

    exchanges: int = 0
    points: int = 0
    theirs: int = 0
    money: Decimal = Decimal(0)

    def plus(self, entry: Entry) -> "Gross":
        return Gross(
            self.exchanges + 1,
            self.points + entry.points,
            self.theirs + entry.theirs,
            self.money + entry.money,
        )


class Bill(NamedTuple):
    """A statement. `due` is what the house owes the partner for the month, below zero where the partner owes.
    `spoken_for` is the money of points that are held at its end.
    """

    programme: str
    month: str
    first_n: int
    last_n: int
    out: Gross
    taken_back: Gross
    into: Gross
    due: Decimal
    payments: Decimal
    corrections: Decimal
    spoken_for: Decimal
    opening: Decimal
    closing: Decimal
    currency: str


class Carried(NamedTuple):
    """What a statement takes over from the one before it."""

    last_n: int = 0
    balance: Decimal = Decimal(0)
    spoken_for: Decimal = Decimal(0)


def carried(before: Bill | None) -> Carried:
    return Carried() if before is None else Carried(before.last_n, before.closing, before.spoken_for)


def within(entries: Sequence[Entry], end: datetime) -> Sequence[Entry]:
    """The entries of a month that ends then, of entries in the order of their numbers: up to the first of a later
    month.
    """
    return entries[: next((place for place, entry in enumerate(entries) if entry.at >= end), len(entries))]


def bill(programme: str, month: str, before: Carried, entries: Iterable[Entry], currency: str) -> Bill:
    """Of all entries that the month covers, in the order of their numbers."""
    gross = dict.fromkeys((EntryKind.CAPTURED, EntryKind.REVERSED, EntryKind.AWARDED), Gross())
    sums = dict.fromkeys((EntryKind.PAYMENT, EntryKind.CORRECTION), Decimal(0))
    spoken_for, closing, last_n = before.spoken_for, before.balance, before.last_n
    for entry in entries:
        if entry.kind in gross:
            gross[entry.kind] = gross[entry.kind].plus(entry)
        if entry.kind in sums:
            sums[entry.kind] += entry.money
        spoken_for += _SPEAKS_FOR.get(entry.kind, 0) * entry.money
        closing, last_n = closing + change(entry.kind, entry.money), entry.n
    out, taken_back, into = gross.values()
    return Bill(
        programme=programme,
        month=month,
        first_n=before.last_n + 1,
        last_n=last_n,
        out=out,
        taken_back=taken_back,
        into=into,
        due=out.money - taken_back.money - into.money,
        payments=sums[EntryKind.PAYMENT],
        corrections=sums[EntryKind.CORRECTION],
        spoken_for=spoken_for,
        opening=before.balance,
        closing=closing,
        currency=currency,
    )


_SPEAKS_FOR: Final = {EntryKind.HELD: 1, EntryKind.RELEASED: -1, EntryKind.CAPTURED: -1}
