"""The rows of a round of movements, and the order in which they are written."""

from datetime import UTC, date, datetime
from typing import Final

import pytest

from abacus.ledger.decide.account_with_lots import AccountWithLots, Entry, put, put_back, take
from abacus.ledger.decide.movement import Books, plan_moves, rounds
from abacus.ledger.types.account import Account
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Movement, Reversal, Spend
from abacus.pricing.decide.card import OnShortfall

NOW: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)
JULY, AUGUST = date(2026, 7, 31), date(2026, 8, 31)
BOB: Final = Account.opened(("bob", "GRP"), "SG")
GIVEN: Final = Entry(TransferKind.ADJUST, "adjust:1", b"{}", NOW, NOW, "person:ann")


def spend(key: str, member: str = "bob", program: str = "GRP") -> Spend:
    return Spend(key, member, program, "SG", "0" * 16, 0, "a coffee", "acme", "partner:acme")


def reverse(member: str = "bob", program: str = "GRP") -> Reversal:
    return Reversal(
        key=f"api:acme:{member}",
        member_id=member,
        program=program,
        country="SG",
        fingerprint="0" * 16,
        reverses="txn:rides:1",
        part=None,
        on_shortfall=OnShortfall.CLIP,
        card="SG@1",
        reason=None,
        actor=None,
        source="stream",
        occurred_at=NOW,
        expires_on=JULY,
        lifetime=False,
    )


def test_keys_and_accounts_are_written_in_order() -> None:
    movements = [spend("c", "eve"), spend("a"), spend("b", "eve")]
    accounts = {id_: AccountWithLots(Account.opened(id_, "SG")) for id_ in (("eve", "GRP"), ("bob", "GRP"))}
    decided = plan_moves(movements, {}, Books(accounts, {}, {}), NOW)
    assert [claim.key for claim in decided.claims] == ["a", "b", "c"]
    assert list(decided.accounts) == [("bob", "GRP"), ("eve", "GRP")]
    assert [transfer.key for transfer in decided.transfers] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("movements", "expected"),
    [
        ([], []),
        ([spend("a"), spend("b")], [[0, 1]]),
        ([reverse()], [[0]]),
        ([reverse(), spend("a"), reverse(), reverse()], [[1], [0], [2], [3]]),
        ([reverse(), reverse("eve"), reverse("bob", "OVO"), reverse()], [[0, 1, 2], [3]]),
    ],
    ids=["nothing", "no reversals", "one", "several of one account", "of several accounts"],
)
def test_rounds(movements: list[Movement], expected: list[list[int]]) -> None:
    assert list(rounds(movements)) == expected


@pytest.mark.parametrize(("points", "day"), [(9, JULY), (10, None), (11, None)])
def test_an_account_that_is_emptied_has_no_day(points: int, day: date | None) -> None:
    there = AccountWithLots(BOB._replace(balance=10, expires_on=JULY, active_until=JULY))
    change = take(there, points, GIVEN)
    assert change.after.account.expires_on == change.transfer.expires_on == day


def test_what_is_added_moves_no_day() -> None:
    """Added points are a gift, so they do not prolong the points that are there."""
    there = AccountWithLots(BOB._replace(balance=10, expires_on=JULY, active_until=JULY))
    assert put(there, 5, AUGUST, GIVEN, lifetime=False).after.account.expires_on == JULY
    assert put(AccountWithLots(BOB), 5, AUGUST, GIVEN, lifetime=False).after.account.expires_on == AUGUST
    assert put(AccountWithLots(BOB), 0, AUGUST, GIVEN, lifetime=False).after.account.expires_on is None


@pytest.mark.parametrize("balance", [0, 10], ids=["emptied", "not emptied"])
def test_what_is_put_back_keeps_the_accounts_day(balance: int) -> None:
    """Even one that has passed, and even if a lifetime card is in force by now."""
    day = JULY if balance else None
    there = AccountWithLots(BOB._replace(balance=balance, expires_on=day, active_until=JULY))
    for each in (there, there._replace(account=there.account._replace(active_until=date(2026, 5, 31)))):
        change = put_back(each, 5, AUGUST, GIVEN)
        assert change.after.account.expires_on == change.transfer.expires_on == each.account.active_until
        assert not change.after.account.lifetime
    assert put_back(there, 0, AUGUST, GIVEN).after.account.expires_on == day


@pytest.mark.parametrize(("owed", "left"), [(0, [5]), (3, [2]), (5, []), (9, [])])
def test_what_is_added_pays_a_debt_first(owed: int, left: list[int]) -> None:
    change = put(AccountWithLots(BOB._replace(balance=-owed)), 5, AUGUST, GIVEN, lifetime=True)
    assert change.after.account.balance == 5 - owed
    assert [each.left for each in change.after.lots] == left
