"""Two books: what ties, and which break each difference is."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.matching import BreakKind, judge, missing_there, unknown_here
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.types import StatementLine, StatementState

AT = datetime(2026, 6, 1, tzinfo=UTC)
ID = UUID("11111111-1111-1111-1111-111111111111")
OURS = Exchange(
    exchange_id=ID,
    direction=Direction.OUT,
    programme="skymiles",
    version=1,
    partner="skyline",
    member_id="bob",
    program="GRP",
    country="SG",
    link_id=ID,
    points=2500,
    theirs=1000,
    fee=0,
    key="k",
    fingerprint="f",
    actor="app",
    source="partner:app",
    state=State.CAPTURED,
    reason=None,
    detail=None,
    reference=None,
    quoted_at=AT,
    expires_at=AT,
    asked_at=AT,
    sent_at=AT,
    credited_at=AT,
    ended_at=AT,
    changed_at=AT,
    due_at=None,
    late_at=None,
    attempts=1,
    turns=4,
    file=None,
)
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
    assert [each.kind for each in missing_there([OURS], {line.id: line})] == [BreakKind.NOT_THEIRS]
    assert list(missing_there([OURS], {str(ID): line})) == []
