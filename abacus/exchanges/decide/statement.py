"""The statement of a month: both directions gross, netted, and billed once. Pure.

A statement covers entries of a position by their numbers, beginning behind the statement before it: each entry is
billed once, whatever the clocks of its writers say.
"""

from collections.abc import Iterable
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


class MonthTally:
    """Adds up the entries of a month, in the order of their numbers, up to the first of a later month."""

    def __init__(self, before: Carried, end: datetime) -> None:
        self._before = before
        self._end = end
        self._gross = dict.fromkeys((EntryKind.CAPTURED, EntryKind.REVERSED, EntryKind.AWARDED), Gross())
        self._sums = dict.fromkeys((EntryKind.PAYMENT, EntryKind.CORRECTION), Decimal(0))
        self._now = before

    @property
    def last_n(self) -> int:
        return self._now.last_n

    def take(self, entries: Iterable[Entry]) -> bool:
        """Whether all were taken: of a page that was, the next one may have more of the month."""
        for entry in entries:
            if entry.at >= self._end:
                return False
            if entry.kind in self._gross:
                self._gross[entry.kind] = self._gross[entry.kind].plus(entry)
            if entry.kind in self._sums:
                self._sums[entry.kind] += entry.money
            self._now = Carried(
                entry.n,
                self._now.balance + change(entry.kind, entry.money),
                self._now.spoken_for + _SPEAKS_FOR.get(entry.kind, 0) * entry.money,
            )
        return True

    def bill(self, programme: str, month: str, currency: str) -> Bill:
        out, taken_back, into = self._gross.values()
        return Bill(
            programme=programme,
            month=month,
            first_n=self._before.last_n + 1,
            last_n=self._now.last_n,
            out=out,
            taken_back=taken_back,
            into=into,
            due=out.money - taken_back.money - into.money,
            payments=self._sums[EntryKind.PAYMENT],
            corrections=self._sums[EntryKind.CORRECTION],
            spoken_for=self._now.spoken_for,
            opening=self._before.balance,
            closing=self._now.balance,
            currency=currency,
        )


_SPEAKS_FOR: Final = {EntryKind.HELD: 1, EntryKind.RELEASED: -1, EntryKind.CAPTURED: -1}
