"""Which month may be closed or reopened, what may be accepted, and what an account of `reconcile` has to say."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from abacus.core.errors import Refused
from abacus.oversight.closing.decide.obstacles import Obstacle, left, reconciled
from abacus.oversight.closing.decide.record import Act, Signed, check_close, check_reopen, closed_months
from abacus.programs.expiry.decide.month import Month

MARCH, APRIL, MAY = (Month(2026, number) for number in (3, 4, 5))
NOW = datetime(2026, 6, 1, tzinfo=UTC)
SINCE, UNTIL = datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)


def record(*acts: tuple[Month, Act]) -> list[Signed]:
    numbers: dict[Month, int] = {}
    rows = []
    for month, act in acts:
        numbers[month] = numbers.get(month, 0) + 1
        rows.append(Signed(month, numbers[month], act, "jane", NOW, "", files={}, accepted=()))
    return rows


@pytest.mark.parametrize(
    ("acts", "closed", "close_april", "reopen_april"),
    [
        ([], [], None, "2026-04 is not closed"),
        ([(MARCH, Act.CLOSED)], [MARCH], None, "2026-04 is not closed"),
        ([(APRIL, Act.CLOSED)], [APRIL], "2026-04 is closed", None),
        ([(APRIL, Act.CLOSED), (APRIL, Act.REOPENED)], [], None, "2026-04 is not closed"),
        ([(APRIL, Act.CLOSED), (APRIL, Act.REOPENED), (APRIL, Act.CLOSED)], [APRIL], "2026-04 is closed", None),
        ([(APRIL, Act.CLOSED), (MAY, Act.CLOSED)], [APRIL, MAY], "2026-04 is closed", "2026-05 is closed too"),
        ([(MAY, Act.CLOSED)], [MAY], "2026-05 was closed last, so the next one is 2026-06", "2026-04 is not closed"),
    ],
)
def test_months_close_in_order_and_reopen_from_the_last(
    acts: list[tuple[Month, Act]], closed: list[Month], close_april: str | None, reopen_april: str | None
) -> None:
    rows = record(*acts)
    assert closed_months(rows) == closed
    for check, said in ((check_close, close_april), (check_reopen, reopen_april)):
        if said is None:
            check(rows, APRIL)
        else:
            with pytest.raises(Refused, match=said):
                check(rows, APRIL)


@pytest.mark.parametrize(
    ("names", "accepted", "stay"),
    [
        (["quarantine"], [], ["quarantine"]),
        (["quarantine", "expiry"], ["quarantine"], ["expiry"]),
        (["reconcile"], ["reconcile"], []),
        (["not-tied", "seal", "not-over"], ["not-tied", "seal", "not-over"], ["not-tied", "seal", "not-over"]),
    ],
)
def test_what_a_person_may_accept(names: Sequence[str], accepted: Sequence[str], stay: Sequence[str]) -> None:
    assert [each.name for each in left([Obstacle(name, "…") for name in names], accepted)] == stay


def account(**changes: Any) -> bytes:
    month = {"from": "2026-04-01T00:00:00+00:00", "to": "2026-05-02T00:00:00+00:00", "comes_out": True, "whole": True}
    return orjson.dumps({**month, **changes})


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (account(), []),
        (None, ["not shown; run `abacus reconcile --from 2026-04-01"]),
        (account(comes_out=False), ["the account does not come out"]),
        (account(whole=False), ["the account is not whole"]),
        (account(to="2026-04-30T00:00:00+00:00"), ["the account is of 2026-04-01"]),
        (account(to="2026-04-30T00:00:00"), ["the file is no account"]),
        (b"[]", ["the file is no account"]),
        (b"{", ["the file is no account"]),
    ],
)
def test_the_account_of_the_messages(document: bytes | None, said: list[str]) -> None:
    obstacles = reconciled(document, SINCE, UNTIL)
    assert [each.said.startswith(begin) for each, begin in zip(obstacles, said, strict=True)] == [True] * len(said)
