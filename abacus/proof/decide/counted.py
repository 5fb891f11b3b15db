"""The points that count against the limits of partners, worked out a second time from the transfers. Pure.

It is not always certain what counted. A partner's adjustments and reversals count since transfers have format 3, and
its awards since it is registered. A transfer counts for the day of the clock that was furthest ahead, which around
midnight may be the day after its own. So a sum has bounds, which are the same where all is certain.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.errors import SetAside
from abacus.core.sources import partner_of
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.types.kinds import ON_WORD, TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Reversed

_MOVEMENTS_COUNT: Final = 3  # since this format
_CLOCKS_APART: Final = timedelta(minutes=5)


class Counted(NamedTuple):
    """A number of points, known between two bounds."""

    least: int = 0
    most: int = 0

    @classmethod
    def of(cls, points: int, *, certain: bool) -> "Counted":
        return cls(points, points) if certain else cls(min(0, points), max(0, points))

    def plus(self, other: "Counted") -> "Counted":
        return Counted(self.least + other.least, self.most + other.most)

    def allows(self, recorded: int) -> bool:
        """Whether the recorded points lie within the bounds. Points given back leave no less than nothing."""
        return max(0, self.least) <= recorded <= max(0, self.most)

    def __str__(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


NOTHING: Final = Counted()


class Use(NamedTuple):
    """The effect of one transfer on its partner's allowance: in all, and on days. It is on each of two days where it is
    not certain which.
    """

    partner_id: str
    points: Counted
    days: Mapping[date, Counted]


class Original(NamedTuple):
    """The transfer that a reversal took back."""

    kind: str
    source: str | None
    posted_at: datetime


def use_of(transfer: Transfer, registered_at: datetime | None, original: Original | None) -> Use | None:
    """None where nothing counts. `registered_at` is the partner's beginning, None where it is not known."""
    partner_id = partner_of(transfer.known_source)
    if partner_id is None:
        return None
    certain = registered_at is not None and transfer.posted_at >= registered_at
    if transfer.kind != TransferKind.EARN:
        certain = certain and transfer.format >= _MOVEMENTS_COUNT
    if transfer.kind == TransferKind.EARN or (transfer.kind in ON_WORD and transfer.points > 0):
        days, in_all = _days(transfer.posted_at), Counted.of(transfer.points, certain=certain)
        each = in_all if len(days) == 1 else Counted.of(transfer.points, certain=False)
        return Use(partner_id, in_all, dict.fromkeys(days, each))
    own = own_points(transfer)
    if not own or original is None or original.kind != TransferKind.EARN or partner_of(original.source) != partner_id:
        return None
    awarded, days = original.posted_at.astimezone(UTC).date(), _days(transfer.posted_at)
    given_back = Counted.of(-own, certain=certain and days == [awarded])
    return Use(partner_id, Counted.of(-own, certain=certain), {awarded: given_back} if awarded in days else {})


def own_points(transfer: Transfer) -> int:
    """The points that a reversal took from the very lot that it takes back; of anything else none."""
    if transfer.kind != TransferKind.REVERSE or transfer.points > 0:
        return 0
    try:
        explanation = read(transfer.explanation)
    except SetAside:  # recomputing tells
        return 0
    return explanation.own_lot if isinstance(explanation, Reversed) else 0


def faults_of_allowance(
    allowance: Allowance | None, in_all: Counted, days: Mapping[date, Counted], *, registered: bool
) -> Iterator[str]:
    """The faults of a partner's allowance; `days` has at least its last day and the days after."""
    if allowance is None:
        if registered:
            yield "it has no allowance, so nothing limits it"
        return
    if not in_all.allows(allowance.used):
        yield f"its used points are {allowance.used}, its transfers come to {in_all}"
    on_day = days.get(allowance.day, NOTHING)
    if not on_day.allows(allowance.used_that_day):
        yield f"its used points on {allowance.day} are {allowance.used_that_day}, its transfers come to {on_day}"
    later = [day for day, counted in days.items() if day > allowance.day and counted.least > 0]
    if later:
        yield f"its last day is {allowance.day}, but it has transfers of {max(later)}"


def fault_of_day(member_id: str, day: date, recorded: int, counted: Counted) -> str | None:
    """The fault of a member's points from a partner on one day."""
    if counted.allows(recorded):
        return None
    return f"the points that it gave {member_id} on {day} are {recorded}, its transfers come to {counted}"


def _days(posted_at: datetime) -> list[date]:
    """The day for which it counts, or two."""
    there = posted_at.astimezone(UTC)
    day, later = there.date(), (there + _CLOCKS_APART).date()
    return [day] if day == later else [day, later]
