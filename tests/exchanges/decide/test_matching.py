"""Two books: what ties, and which break each difference is."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.matching import BreakKind, Ours, judge, missing_there, unknown_here
from abacus.exchanges.types import StatementLine, StatementState

AT = datetime(2026, 6, 1, tzinfo=UTC)
ID = UUID("11111111-1111-1111-1111-111111111111")
OURS = Ours(ID, State.CAPTURED, 1000)
CREDITED, REJECTED, CANCELLED, REVERSED = StatementState


@pytest.mark.parametrize(
    ("ours", "theirs", "amount", "kind"),
    [
        (State.CAPTURED, CREDITED, 1000, None),
        (State.CAPTURED, CREDITED, 999, BreakKind.AMOUNT),
        (State.CAPTURED, REVERSED, 1000, BreakKind.REVERSAL),
        (State.REVERSED, CREDITED, 1000, BreakKind.REVERSAL),
        (State.REVERSED, REVERSED, 1000, None),
        (State.CAPTURED, REJECTED, 0, BreakKind.CAPTURED),
        (State.CAPTURED, CANCELLED, 0, BreakKind.CAPTURED),
        (State.RELEASED, CREDITED, 1000, BreakKind.RELEASED),
        (State.RELEASED, REJECTED, 0, None),
        (State.RELEASED, CANCELLED, 0, None),
        (State.RELEASED, REVERSED, 1000, None),
        (State.SENT, CREDITED, 1000, None),
        (State.UNKNOWN, REJECTED, 0, None),
        (State.ASIDE, CREDITED, 999, None),
    ],
)
def test_a_line_ties_or_is_a_break_of_its_kind(
    ours: State, theirs: StatementState, amount: int, kind: BreakKind | None
) -> None:
    found = judge(OURS._replace(state=ours), StatementLine(str(ID), theirs, amount, AT))
    assert (found and found.kind) == kind


def test_an_id_that_is_on_one_side_alone_is_a_break() -> None:
    line = StatementLine("22222222-2222-2222-2222-222222222222", CREDITED, 5, AT)
    assert unknown_here(line).kind is BreakKind.NOT_OURS
    assert [each.kind for each in missing_there([OURS])] == [BreakKind.NOT_THEIRS]
