"""Our exchanges against a partner's statement: every id ties, or is a break with its kind. Pure."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from abacus.exchanges.decide.exchange import State
from abacus.exchanges.types import StatementLine, StatementState


class BreakKind(StrEnum):
    """How two books differ."""

    NOT_THEIRS = "not-theirs"  # credited by our book, and in none of the partner's statements
    NOT_OURS = "not-ours"  # in the partner's statement, and unknown here
    AMOUNT = "amount"
    RELEASED = "credited-and-released"  # the partner credited what was let go here
    CAPTURED = "refused-and-captured"  # the partner refused what was captured here
    REVERSAL = "reversal"  # taken back on one side alone
    SHORT = "short"  # credited before a restored backup, and the balance is gone since
    SUMS = "sums"  # a statement's sums are not those of its lines
    MISSING = "missing-statement"  # there is none of a day that is long over
    INVOICE = "invoice"  # the partner's invoice is not our statement
    PAYMENT = "payment"  # a statement that is not paid in time, or with another sum


class Ours(NamedTuple):
    """What is compared of an exchange."""

    exchange_id: UUID
    state: State
    theirs: int


class Break(NamedTuple):
    """A difference. There is one at a time of a kind for an id, a day or a document, which is `about`."""

    kind: BreakKind
    about: str
    exchange_id: UUID | None
    ours: str
    theirs: str


_OPEN_HERE: Final = frozenset(
    {State.HELD, State.SENT, State.UNKNOWN, State.CANCELLING, State.ASIDE, State.CREDITED, State.REJECTED}
)
_SETTLED_BY_CREDIT: Final = frozenset({State.CAPTURED, State.CREDITED, State.REVERSING})
_BACK_HERE: Final = frozenset({State.TAKEN_BACK, State.REVERSED})


# Kinds that are found, and agreed on again, by the line of an id.
BY_LINE: Final = (
    BreakKind.NOT_THEIRS,
    BreakKind.NOT_OURS,
    BreakKind.AMOUNT,
    BreakKind.RELEASED,
    BreakKind.CAPTURED,
    BreakKind.REVERSAL,
)


def judge(ours: Ours, line: StatementLine) -> Break | None:
    """The exchange of a line. An exchange that is open here is gone on with, and judged when it has ended."""
    if ours.state in _OPEN_HERE:
        return None
    kind = _kind_of(ours, line)
    if kind is None:
        return None
    return Break(kind, str(ours.exchange_id), ours.exchange_id, _ours(ours), _theirs(line))


def unknown_here(line: StatementLine) -> Break:
    return Break(BreakKind.NOT_OURS, line.id, None, "unknown", _theirs(line))


def missing_there(credited: Iterable[Ours]) -> Iterator[Break]:
    """Exchanges without a line, of days for which all statements are complete, the day after them too."""
    for each in credited:
        yield Break(BreakKind.NOT_THEIRS, str(each.exchange_id), each.exchange_id, _ours(each), "no line")


def missing_statement(day: date) -> Break:
    since = end_of(day).isoformat()
    return Break(BreakKind.MISSING, day.isoformat(), None, f"expected since {since}", "no statement")


def end_of(day: date) -> datetime:
    """Statements are of days of UTC."""
    return datetime.combine(day + timedelta(days=1), datetime.min.time(), UTC)


def _kind_of(ours: Ours, line: StatementLine) -> BreakKind | None:
    back_there, back_here = line.state is StatementState.REVERSED, ours.state in _BACK_HERE
    match line.state:
        case StatementState.CREDITED | StatementState.REVERSED if ours.state in _SETTLED_BY_CREDIT | _BACK_HERE:
            if line.amount != ours.theirs:
                return BreakKind.AMOUNT
            return BreakKind.REVERSAL if back_there != back_here else None
        case StatementState.CREDITED:
            return BreakKind.RELEASED
        case StatementState.REJECTED | StatementState.CANCELLED if ours.state in _SETTLED_BY_CREDIT | _BACK_HERE:
            return BreakKind.CAPTURED
    return None


def _ours(ours: Ours) -> str:
    return f"{ours.state}, {ours.theirs}"


def _theirs(line: StatementLine) -> str:
    return f"{line.state}, {line.amount}"
