"""Points that are moved without a second person, summed by actor and by member, so that parts count as the whole. Pure.

Adjustments count, and reversals, except of a partner's own transfers. Points count alike whether added or taken. All
logins are one actor: nobody has checked their names.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, TypeGuard

from abacus.core.sources import is_login, name_of, partner_of
from abacus.ledger.decide.account_with_lots import Change
from abacus.ledger.decide.reversal import Original, left_of
from abacus.ledger.types.limits import Sums, Total
from abacus.ledger.types.movement import Adjustment, Movement, Reversal, SecondPersonNeeded

MONTH: Final = timedelta(days=30)

_LOGINS: Final = "login"


class _Sum(NamedTuple):
    """A sum and the most that it may be, with words for a person."""

    before: int
    most: int | None
    words: str
    per: str


def whose_sums(movements: Iterable[Movement]) -> list[str]:
    """The actors and members to whose sums the movements may add, in the order in which they are locked."""
    return sorted({whose for each in movements if _is_summed(each) for whose in _whose(each)})


class MovedAlone:
    """The sums of a round of movements while it is decided. `totals` are the last 30 days', under lock."""

    def __init__(self, totals: Iterable[Total], now: datetime) -> None:
        self._today = now.astimezone(UTC).date()
        self._on_day = Counter[str]()
        self._in_month = Counter[str]()
        self._added = Counter[str]()
        self.first_day = self._today - MONTH + timedelta(days=1)  # of the 30
        for whose, day, points in totals:
            if day >= self.first_day:
                self._in_month[whose] += points
            if day >= self._today:  # also a day that another process's clock has reached before ours
                self._on_day[whose] += points

    @property
    def added(self) -> list[Total]:
        """What the round adds to the sums, in the order of the locks."""
        return [Total(whose, self._today, points) for whose, points in sorted(self._added.items()) if points]

    def check(self, movement: Movement, original: Original | None, change: Change) -> None:
        """Raises `SecondPersonNeeded` for a movement that is too much in sum. `count` follows when it is posted."""
        points = abs(change.transfer.points)
        if not points or not _is_summed(movement) or _is_its_own(movement, original):
            return
        for before, most, words, per in self._sums(movement, movement.sums or Sums()):
            if most is not None and before + points > most:
                due = left_of(original, movement) if original and isinstance(movement, Reversal) else points
                detail = f"{points} points; {words} {before} alone {per}, and more than {most} take a second person"
                raise SecondPersonNeeded(due, detail)

    def count(self, movement: Movement, original: Original | None, change: Change) -> None:
        if _is_summed(movement) and not _is_its_own(movement, original):
            for whose in _whose(movement):
                for counter in (self._on_day, self._in_month, self._added):
                    counter[whose] += abs(change.transfer.points)

    def _sums(self, movement: Adjustment | Reversal, most: Sums) -> Iterator[_Sum]:
        actor, member = _whose(movement)
        by = "logins moved" if actor == _LOGINS else f"{name_of(actor)} moved"
        of = f"of {movement.member_id} were moved"
        day, month = "today", f"in {MONTH.days} days"
        yield _Sum(self._on_day[actor], most.actor_day, by, day)
        yield _Sum(self._in_month[actor], most.actor_month, by, month)
        yield _Sum(self._on_day[member], most.member_day, of, day)
        yield _Sum(self._in_month[member], most.member_month, of, month)


def _is_summed(movement: Movement) -> TypeGuard[Adjustment | Reversal]:
    return isinstance(movement, Adjustment | Reversal) and movement.sums is not None


def _is_its_own(movement: Adjustment | Reversal, original: Original | None) -> bool:
    """Whether a partner takes back what it did itself, such as a purchase that was cancelled."""
    return (
        original is not None
        and partner_of(movement.source) is not None
        and original.transfer.known_source == movement.source
    )


def _whose(movement: Adjustment | Reversal) -> tuple[str, str]:
    """The actor and the member whose sums it adds to."""
    return (_LOGINS if is_login(movement.source) else movement.source, f"member:{movement.member_id}")
