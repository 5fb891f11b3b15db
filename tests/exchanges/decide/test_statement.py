"""Statements of months: gross, netted, and every entry billed once."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from abacus.exchanges.decide.position import Entry, EntryKind, change
from abacus.exchanges.decide.statement import Bill, MonthTally, carried

START = datetime(2026, 6, 1, tzinfo=UTC)
JULY, AUGUST = datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC)
ENDS = {"2026-06": JULY, "2026-07": AUGUST, "2026-08": datetime(2100, 1, 1, tzinfo=UTC)}


def _entries(*made: tuple[EntryKind, int, int]) -> list[Entry]:
    """Of kinds, amounts of money, and days since the start."""
    entries, balance = list[Entry](), Decimal(0)
    for n, (kind, money, day) in enumerate(made, 1):
        balance += change(kind, Decimal(money))
        at = START + timedelta(days=day)
        entries.append(
            Entry(
                "skymiles",
                n,
                at,
                kind,
                None,
                None,
                None,
                money * 100,
                money * 40,
                Decimal(money),
                "SGD",
                balance,
                "x",
                None,
            )
        )
    return entries


def _bills(entries: list[Entry]) -> list[Bill]:
    bills, left = list[Bill](), entries
    for month, end in ENDS.items():
        tally = MonthTally(carried(bills[-1] if bills else None), end)
        assert all(tally.take([each]) for each in left) or left[-1].n > tally.last_n
        bills.append(tally.bill("skymiles", month, "SGD"))
        left = entries[tally.last_n :]
    assert not left
    return bills


def test_a_month_is_told_gross_and_netted() -> None:
    made = _entries(
        (EntryKind.PAYMENT, 100, 0),
        (EntryKind.HELD, 30, 1),
        (EntryKind.HELD, 20, 1),
        (EntryKind.HELD, 5, 2),
        (EntryKind.CAPTURED, 30, 2),
        (EntryKind.RELEASED, 20, 3),
        (EntryKind.AWARDED, 7, 4),
        (EntryKind.REVERSED, 30, 5),
    )
    june, *_ = _bills(made)
    assert [june.out.money, june.taken_back.money, june.into.money, june.due, june.payments] == [30, 30, 7, -7, 100]
    assert (june.out.exchanges, june.out.points, june.out.theirs) == (1, 3000, 1200)
    assert [june.opening, june.closing, june.spoken_for] == [0, 102, 5]
    assert june.closing == made[-1].balance_after


def test_an_entry_with_a_late_clock_is_billed_in_the_next_month() -> None:
    made = _entries((EntryKind.CAPTURED, 1, 29), (EntryKind.CAPTURED, 2, 31), (EntryKind.CAPTURED, 4, 29))
    assert [each.out.money for each in _bills(made)] == [1, 6, 0]


amounts = st.tuples(st.sampled_from(EntryKind), st.integers(0, 1000), st.integers(0, 80))


@given(made=st.lists(amounts, max_size=30))
def test_every_entry_is_billed_once_and_balances_go_on(made: list[tuple[EntryKind, int, int]]) -> None:
    entries = _entries(*made)
    bills = _bills(entries)
    assert [each.first_n for each in bills[1:]] == [each.last_n + 1 for each in bills[:-1]]
    assert all(before.closing == after.opening for before, after in pairwise(bills))
    assert bills[-1].closing == (entries[-1].balance_after if entries else 0)
    captured = sum(each.money for each in entries if each.kind is EntryKind.CAPTURED)
    assert sum(each.out.money for each in bills) == captured
