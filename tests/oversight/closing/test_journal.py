"""The journal: balanced, sums to the rollforward, and every account comes from the mapping."""

from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.oversight.closing.decide.account_map import read_mapping
from abacus.oversight.closing.decide.journal import JournalLine, journal
from abacus.oversight.closing.decide.journal_accounts import Accounts
from abacus.oversight.reports.decide.assumption import Assumption, AssumptionBook, Estimate
from abacus.oversight.reports.decide.rollforward import SIGNS, Movement
from abacus.programs.expiry.decide.month import Month

APRIL: Final = Month(2026, 4)
WHOLE: Final = "\n".join(f'["*"."*".{kind}]\ndebit = "{kind} debit"\ncredit = "liability"' for kind in SIGNS)


def assumed(program: str, country: str, cost: Decimal | None, since: date = date(2026, 1, 1)) -> Assumption:
    estimate = Estimate("SGD", Decimal("0.97"), cost_per_point=cost)
    return Assumption(program, country, 1, since, estimate, datetime.now(UTC), "jane", "a study")


def movement(program: str = "GRP", country: str = "SG", **figures: int) -> Movement:
    moved = {**dict.fromkeys(SIGNS, 0), **figures}
    closing = sum(sign * moved[kind] for kind, sign in SIGNS.items())
    return Movement(program, country, "-", "-", "-", opening=0, **moved, closing=closing)


figures = st.integers(-(10**12), 10**12)
movements = st.lists(
    st.builds(
        movement, st.sampled_from(["GRP", "OVO"]), st.sampled_from(["SG", "ID"]), **dict.fromkeys(SIGNS, figures)
    ),
    max_size=4,
    unique_by=lambda each: (each.program, each.country),
)


@given(movements, st.decimals("0", "10", places=5), st.integers(0, 4))
def test_it_balances_and_sums_to_the_rollforward(rows: list[Movement], cost: Decimal, decimals: int) -> None:
    book = AssumptionBook(assumed(program, country, cost) for program in ("GRP", "OVO") for country in ("SG", "ID"))
    lines = journal(rows, APRIL, read_mapping(WHOLE), book, decimals=decimals)
    assert sum(line.debit for line in lines) == sum(line.credit for line in lines)
    by_entry: dict[int, list[JournalLine]] = {}
    for line in lines:
        by_entry.setdefault(line.entry, []).append(line)
    moved: Counter[tuple[str, str, str]] = Counter()
    for left, right in by_entry.values():
        assert (left.debit, left.credit) == (right.credit, right.debit)
        assert left.debit == abs(left.points * cost).quantize(Decimal(1).scaleb(-decimals), "ROUND_HALF_UP")
        assert left.account != right.account
        assert left.points == right.points
        moved[left.program, left.country, left.kind] += left.points
    for row in rows:
        assert {kind: getattr(row, kind) for kind in SIGNS} == {
            kind: moved[row.program, row.country, kind] for kind in SIGNS
        }


def test_a_figure_below_zero_changes_the_sides() -> None:
    book = AssumptionBook([assumed("GRP", "SG", Decimal("0.008"))])
    lines = journal([movement(issued=1000, reversed=-500)], APRIL, read_mapping(WHOLE), book, decimals=2)
    assert [
        (line.entry, line.date, line.account, line.debit, line.credit, line.kind, line.points) for line in lines
    ] == [
        (1, date(2026, 4, 30), "issued debit", Decimal("8.00"), Decimal("0.00"), "issued", 1000),
        (1, date(2026, 4, 30), "liability", Decimal("0.00"), Decimal("8.00"), "issued", 1000),
        (2, date(2026, 4, 30), "liability", Decimal("4.00"), Decimal("0.00"), "reversed", -500),
        (2, date(2026, 4, 30), "reversed debit", Decimal("0.00"), Decimal("4.00"), "reversed", -500),
    ]


@pytest.mark.parametrize(
    ("mapping", "cost", "said"),
    [
        ('[GRP.SG.spent]\ndebit = "a"\ncredit = "b"', "0.01", "no accounts for issued of GRP in SG"),
        (WHOLE, None, "no cost of a point of GRP in SG is assumed"),
    ],
)
def test_what_is_refused(mapping: str, cost: str | None, said: str) -> None:
    book = AssumptionBook([assumed("GRP", "SG", Decimal(cost) if cost else None)])
    with pytest.raises(Refused, match=said):
        journal([movement(issued=1)], APRIL, read_mapping(mapping), book, decimals=2)


@pytest.mark.parametrize(
    ("place", "accounts"),
    [
        (("GRP", "SG"), "exact"),
        (("GRP", "ID"), "program"),
        (("OVO", "SG"), "country"),
        (("OVO", "ID"), "any"),
    ],
)
def test_the_closest_entry_counts(place: tuple[str, str], accounts: str) -> None:
    names = {"GRP.SG": "exact", 'GRP."*"': "program", '"*".SG': "country", '"*"."*"': "any"}
    text = "\n".join(f'[{where}.issued]\ndebit = "{name}"\ncredit = "l"' for where, name in names.items())
    assert read_mapping(text).accounts(*place, "issued") == Accounts(accounts, "l")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not toml", "the mapping is no TOML"),
        ('GRP = "x"', "[GRP]: an entry is written"),
        ('[GRP.SG]\nissued = "x"', "[GRP.SG.issued]: an entry is written"),
        ('[GRP.SG.earned]\ndebit = "a"\ncredit = "b"', "'earned' is no column of the rollforward"),
        ('[GRP.SG.issued]\ndebit = "a"', "name the two accounts"),
        ('[GRP.SG.issued]\ndebit = "a"\ncredit = ""', "name the two accounts"),
        ('[GRP.SG.issued]\ndebit = "a"\ncredit = "a"', "the same account"),
    ],
)
def test_a_wrong_mapping_is_refused(text: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        read_mapping(text)
    assert said in str(refused.value)
