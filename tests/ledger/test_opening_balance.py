"""An opening balance changes an account as its line says, and the chain goes on."""

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import SetAside
from abacus.core.points import MAX_POINTS
from abacus.ledger.decide.chain import chain
from abacus.ledger.decide.opening_balance import OpeningBalance, Origin, facts_of, open_with
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import MAX_BALANCE, Account
from abacus.ledger.types.kinds import TransferKind
from abacus.pricing.decide.book import CardBook
from abacus.proof.decide.recompute import recompute
from tests.support.awards import NOW, award, awards_to_bob

OLD = Origin("oldsystem", "alice")
BROUGHT = OpeningBalance("bob", "GRP", "SG", 1250, date(2027, 6, 30))
EMPTY = Account.opened(("bob", "GRP"), "SG")
DAYS = st.none() | st.dates(date(2026, 1, 1), date(2028, 1, 1))


def test_what_is_written() -> None:
    after, transfer = open_with(EMPTY, BROUGHT, OLD, NOW)
    assert (transfer.kind, transfer.key, transfer.actor) == (
        TransferKind.ADJUST,
        "import:oldsystem:bob:GRP",
        "import:oldsystem",
    )
    assert json.loads(transfer.explanation) == {
        "v": 1,
        "points": 1250,
        "reason": "opening balance",
        "by": "alice",
        "import": "oldsystem",
    }
    assert recompute(transfer, CardBook([])) is None
    assert recompute(transfer._replace(points=1251), CardBook([])) is not None
    assert after.earned_total == 0


@pytest.mark.parametrize(
    ("before", "points", "brought", "after"),
    [
        (None, 10, date(2027, 6, 30), date(2027, 6, 30)),
        (date(2026, 12, 31), 10, date(2027, 6, 30), date(2026, 12, 31)),
        (date(2028, 12, 31), 10, date(2027, 6, 30), date(2028, 12, 31)),
        (None, 0, date(2027, 6, 30), None),
        (None, 0, None, None),
        (date(2026, 12, 31), 0, None, date(2026, 12, 31)),
    ],
)
def test_the_expiry_date_is_set_where_there_is_none(
    before: date | None, points: int, brought: date | None, after: date | None
) -> None:
    opening = BROUGHT._replace(points=points, expires_on=brought)
    account, transfer = open_with(EMPTY._replace(expires_on=before, active_until=before), opening, OLD, NOW)
    assert (account.expires_on, transfer.expires_on) == (after, after)


@given(st.lists(awards_to_bob, max_size=4), st.integers(0, MAX_POINTS), DAYS)
def test_balance_sequence_and_chain_go_on(earned: list[object], points: int, day: date | None) -> None:
    account = EMPTY
    for each in earned:
        account, _ = apply(account, each, NOW)  # type: ignore[arg-type]  # the strategy's own type is wider
    after, transfer = open_with(account, BROUGHT._replace(points=points, expires_on=day), OLD, NOW)
    assert after.balance == account.balance + points == transfer.balance_after
    assert (after.last_seq, after.earned_total, after.held) == (
        account.last_seq + 1,
        account.earned_total,
        account.held,
    )
    assert after.head_hash == transfer.hash == chain(account.head_hash, transfer[:-1])


def test_an_account_that_an_import_opens_lapses_as_the_card_says() -> None:
    """10 brought until 23 November, then 100 given until 31 May: under a lifetime card each keeps its day."""
    brought = BROUGHT._replace(points=10, expires_on=date(2026, 11, 23))
    given = award(points=100, expires_on=date(2027, 5, 31), activity=False, lifetime=True)
    for by_lots, day in ((True, date(2027, 5, 31)), (False, date(2026, 11, 23))):
        opened, _ = open_with(EMPTY, brought._replace(lifetime=by_lots), OLD, NOW)
        account, transfer = apply(opened, given, NOW)
        assert (account.lifetime, account.expires_on, transfer.expires_on) == (by_lots, date(2026, 11, 23), day)


def test_an_import_leaves_the_way_of_points_that_are_there() -> None:
    earned, _ = apply(EMPTY, award(), NOW)
    after, _ = open_with(earned, BROUGHT._replace(lifetime=True), OLD, NOW)
    assert not after.lifetime


def test_no_account_holds_more_than_it_can() -> None:
    with pytest.raises(SetAside, match="past"):
        open_with(EMPTY._replace(balance=MAX_BALANCE), BROUGHT, OLD, NOW)


def test_every_fact_counts_and_who_brought_it_does_not() -> None:
    others = [BROUGHT._replace(points=1), BROUGHT._replace(country="MY"), BROUGHT._replace(expires_on=None)]
    assert len({facts_of(each) for each in (BROUGHT, *others)}) == 4
