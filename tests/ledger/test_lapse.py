"""Points lapse once, only what is available, and only where nobody was active."""

from collections.abc import Sequence
from datetime import UTC, date, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.sources import CLOCK
from abacus.ledger.decide.account_with_lots import AccountWithLots, Entry, take
from abacus.ledger.decide.chain import chain
from abacus.ledger.decide.lapse import MonthEnd
from abacus.ledger.decide.lapse import lapse as lapse_purse
from abacus.ledger.decide.lots import Lot, OpenLot
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from tests.support.awards import NOW, award, awards_to_bob

JULY = MonthEnd("expiry:2026-07", date(2026, 7, 31), datetime(2026, 7, 31, 16, tzinfo=UTC))
LATER = datetime(2026, 8, 1, 3, tzinfo=UTC)


def lapse(account: Account, end: MonthEnd, at: datetime) -> tuple[Account, Transfer] | None:
    change = lapse_purse(AccountWithLots(account), end, at)
    return None if change is None else (change.after.account, change.transfer)


BOB, _ = apply(Account.opened(("bob", "GRP"), "SG"), award(), NOW)


def test_what_is_available_lapses() -> None:
    changed = lapse(BOB, JULY, LATER)
    assert changed is not None
    account, transfer = changed
    assert (account.balance, account.expires_on, account.last_seq, account.earned_total) == (0, None, 2, 180)
    assert transfer[:11] == (
        *("bob", "GRP", 2, TransferKind.EXPIRE, -180, 0, "expiry:2026-07", "SG", JULY.lapsed_at, LATER),
        None,
    )
    expected = {"v": 1, "expired_on": "2026-07-31", "balance": 180, "held": 0, "points": -180}
    expected |= {"lots_closed": 0, "lots_drawn": 0}
    assert orjson.loads(transfer.explanation) == expected
    assert account.head_hash == transfer.hash == chain(BOB.head_hash, transfer[:-1])


def test_what_is_held_stays_with_its_date() -> None:
    changed = lapse(BOB._replace(held=50), JULY, LATER)
    assert changed is not None
    account, transfer = changed
    assert (transfer.points, account.balance, account.held) == (-130, 50, 50)
    assert account.expires_on == transfer.expires_on == date(2026, 7, 31)


def test_pending_points_of_lots_stay() -> None:
    """No more lapse than are available, of the oldest lots first."""
    lots = [Lot(seq, f"txn:rides:{seq}", 100, 0, NOW, JULY.last_day) for seq in (1, 2)]
    account = BOB._replace(balance=200, lifetime=True, vesting=[int(LATER.timestamp()) + 1, 130])
    change = lapse_purse(AccountWithLots(account, tuple(OpenLot(each, 100) for each in lots)), JULY, LATER)
    assert change is not None
    assert (change.transfer.points, change.after.account.pending) == (-70, 130)
    assert [(each.lot_seq, each.points) for each in change.draws] == [(1, 70)]
    assert orjson.loads(change.transfer.explanation)["pending"] == 130


@pytest.mark.parametrize(
    "account",
    [
        pytest.param(BOB._replace(expires_on=date(2026, 8, 31)), id="active again"),
        pytest.param(BOB._replace(expires_on=None), id="nothing to lapse"),
        pytest.param(BOB._replace(balance=0), id="all spent"),
        pytest.param(BOB._replace(held=180), id="all held"),
        pytest.param(BOB._replace(balance=-20), id="below zero"),
    ],
)
def test_what_does_not_lapse(account: Account) -> None:
    assert lapse(account, JULY, LATER) is None


def test_a_gift_after_the_lapse_has_a_date_of_its_own() -> None:
    changed = lapse(BOB, JULY, LATER)
    assert changed is not None
    gifted, _ = apply(changed[0], award(key="api:acme:1", activity=False, expires_on=date(2027, 2, 28)), LATER)
    assert gifted.expires_on == date(2027, 2, 28)


@given(
    st.integers(1, 1_000),
    st.integers(0, 1_200),
    st.integers(0, 1_200),
    st.integers(0, 300),
    st.sampled_from([None, date(2026, 6, 30), JULY.last_day, date(2026, 8, 31)]),
)
def test_points_lapse_as_if_they_were_taken(
    balance: int, held: int, pending: int, drawn: int, active_until: date | None
) -> None:
    """By activity it is done in one step, and taking points is done in several: the outcome is the same."""
    vesting = [int(LATER.timestamp()) + 1, pending] if pending else None
    account = BOB._replace(balance=balance, held=held, lots_closed=1, lots_drawn=drawn, active_until=active_until)
    account = account._replace(expires_on=JULY.last_day, vesting=vesting)
    change = lapse_purse(AccountWithLots(account), JULY, LATER)
    if account.available <= 0:
        assert change is None
        return
    assert change is not None
    entry = Entry(TransferKind.EXPIRE, JULY.key, change.transfer.explanation, JULY.lapsed_at, LATER, CLOCK)
    taken = take(AccountWithLots(account), account.available, entry)
    expected = taken.after.account._replace(lapsed_seq=taken.transfer.seq)
    if not held and not pending:
        expected = expected._replace(lots_closed=expected.last_seq, lots_drawn=0)
    assert change == taken._replace(after=AccountWithLots(expected), draws=())


@given(st.lists(awards_to_bob, max_size=8), st.lists(awards_to_bob, max_size=4), st.integers(0, 500))
def test_twice_is_once_and_nobody_loses_what_is_held(
    before: Sequence[Award], after: Sequence[Award], held: int
) -> None:
    account = Account.opened(("bob", "GRP"), "SG")
    transfers: list[Transfer] = []
    for each in before:
        account, transfer = apply(account, each, NOW)
        transfers.append(transfer)
    account = account._replace(held=min(held, account.balance))
    was = account
    changed = lapse(account, JULY, LATER)
    if changed is not None:
        account, transfer = changed
        transfers.append(transfer)
        assert account.balance == account.held
        assert was.expires_on is not None
        assert was.expires_on <= JULY.last_day
    assert lapse(account, JULY, LATER) is None
    for each in after:
        account, transfer = apply(account, each, LATER)
        transfers.append(transfer)
    assert account.balance == sum(each.points for each in transfers)
    assert [each.seq for each in transfers] == list(range(1, len(transfers) + 1))
