"""Following an account: rows as posting leaves them are sound, and each fault is reported once."""

from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import SetAside
from abacus.ledger.decide.account_with_lots import AccountWithLots
from abacus.ledger.decide.chain import chain
from abacus.ledger.decide.lapse import MonthEnd, lapse
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.transfer import Transfer
from abacus.proof.decide.account_chain import Follower
from tests.support.awards import NOW, award, awards_to_bob
from tests.support.explanations import VERSION_0

BOB = ("bob", "GRP")


class History(NamedTuple):
    """An account, and the transfers that took it there."""

    account: Account
    transfers: list[Transfer]


def history(*steps: Award | MonthEnd) -> History:
    account, transfers = Account.opened(BOB, "SG"), list[Transfer]()
    for step in steps:
        if isinstance(step, Award):
            account, transfer = apply(account, step, NOW)
            transfers.append(transfer)
        elif (change := lapse(AccountWithLots(account), step, NOW)) is not None:
            account = change.after.account
            transfers.append(change.transfer)
    return History(account, transfers)


def faults(account: Account | None, transfers: list[Transfer]) -> list[str]:
    """Without those of the rows of holds, which have tests of their own."""
    follower = Follower(BOB, account, lambda _: None)
    lines = [f"#{each.seq} {fault}" for each in transfers for fault in follower.follow(each)]
    return [line for line in (*lines, *follower.finish()) if "hold" not in line]


def with_hash(previous: bytes, transfer: Transfer) -> Transfer:
    return transfer._replace(hash=chain(previous, transfer[:-1]))


@given(st.lists(awards_to_bob, max_size=8), st.integers(1, 12))
def test_what_posting_leaves_is_sound(each: list[Award], month: int) -> None:
    end = MonthEnd("expiry:2026-13", date(2026, month, 28), NOW)
    try:
        left = history(*each, end)
    except SetAside:  # too many points for one account
        return
    assert faults(*left) == []


SOUND = history(award(points=100), award(points=20), award(points=3))
FIRST, SECOND, THIRD = SOUND.transfers


@pytest.mark.parametrize(
    ("transfers", "expected"),
    [
        (
            [FIRST, SECOND._replace(points=21), THIRD],
            ["#2 balance_after is 120, not 100 + 21", "#2 the hash", "earned"],
        ),
        ([FIRST, THIRD], ["#3 follows #1: 1 missing", "#3 balance_after is 123, not 100 + 3", "#3 the hash", "earned"]),
        ([FIRST, SECOND], ["last_seq is 3", "balance is 123", "earned_total is 123", "head_hash"]),
        ([FIRST, SECOND._replace(explanation=b"{}"), THIRD], ["#2 the hash"]),
        ([FIRST, SECOND._replace(occurred_at=NOW + timedelta(days=1)), THIRD], ["#2 the hash"]),
        ([FIRST, SECOND, THIRD._replace(expires_on=None)], ["#3 the hash", "expires_on is 2026-07-31"]),
        ([], ["last_seq is 3", "balance is 123", "expires_on", "active_until", "earned_total is 123", "head_hash"]),
    ],
    ids=["points", "one missing", "the last missing", "explanation", "time", "expiry date", "all missing"],
)
def test_what_is_changed_is_told_once(transfers: list[Transfer], expected: list[str]) -> None:
    told = faults(SOUND.account, transfers)
    assert len(told) == len(expected), told
    assert all(part in line for part, line in zip(expected, told, strict=True)), told


COMPARED: dict[str, Any] = {
    **dict.fromkeys(("balance", "held", "earned_total", "last_seq"), 7),
    **dict.fromkeys(("expires_on", "active_until"), date(2000, 1, 1)),
    "lifetime": True,
    "head_hash": b"x" * 32,
}


@pytest.mark.parametrize("field", COMPARED)
def test_what_the_account_says_is_compared(field: str) -> None:
    (fault,) = faults(SOUND.account._replace(**{field: COMPARED[field]}), SOUND.transfers)
    assert fault.startswith(f"the account's {field} is ")


EARLIER, LATER = date(2026, 10, 31), date(2027, 3, 31)


@pytest.mark.parametrize(
    ("format_", "lifetime", "told"),
    [
        (3, False, ["#2 its day is 2026-10-31, but the account's points were good until 2027-03-31 before"]),
        (2, None, []),
    ],
    ids=["now", "before accounts remembered"],
)
def test_a_day_by_activity_goes_never_back(format_: int, *, lifetime: bool | None, told: list[str]) -> None:
    """As a late transaction set it once: the account's row has its day back, and the transfer stays as it is."""
    first = apply(Account.opened(BOB, "SG"), award(points=100, expires_on=LATER), NOW)[1]
    second = apply(Account.opened(BOB, "SG"), award(points=500, expires_on=EARLIER), NOW)[1]
    second = second._replace(seq=2, balance_after=600, lifetime=lifetime, format=format_)
    second = with_hash(first.hash, second)
    account = Account(*BOB, "SG", 600, 0, 600, LATER, 2, second.hash, active_until=LATER)
    assert faults(account, [first, second]) == told


VESTS = NOW + timedelta(days=14)
PENDING = history(award(points=100), award(points=20, vests_on=VESTS.date(), vests_at=VESTS))


@pytest.mark.parametrize(
    ("vesting", "told"),
    [
        pytest.param([(VESTS, 20)], [], id="as it came"),
        pytest.param([(VESTS, 21)], [(VESTS, 21, 20)], id="more than there came"),
        pytest.param([], [(VESTS, 0, 20)], id="gone too early"),
        pytest.param([(VESTS, 20), (NOW, 5)], [(NOW, 5, 0)], id="a day on which none came"),
    ],
)
def test_pending_points_are_compared(
    vesting: list[tuple[datetime, int]], told: list[tuple[datetime, int, int]]
) -> None:
    numbers = [number for at, points in vesting for number in (int(at.timestamp()), points)]
    assert faults(PENDING.account._replace(vesting=numbers), PENDING.transfers) == [
        f"the account's points that vest at {at.isoformat()} are {points}, its transfers come to {followed}"
        for at, points, followed in told
    ]


def test_pending_points_whose_day_has_begun_are_gone() -> None:
    last = PENDING.transfers[-1]
    more = with_hash(last.hash, last._replace(seq=3, points=0, posted_at=VESTS, vests_on=None, vests_at=None, format=3))
    account = PENDING.account._replace(last_seq=3, head_hash=more.hash)
    for vesting in (PENDING.account.vesting, None):
        assert faults(account._replace(vesting=vesting), [*PENDING.transfers, more]) == []


def test_transfers_without_an_account() -> None:
    assert faults(None, SOUND.transfers) == ["#1 has no account", "#2 has no account", "#3 has no account"]


def explained(kind: str, held: Any) -> bytes:
    """The explanation of a hold, a release, a capture, or a spend that holds nothing."""
    name = "spent" if held is None else {"hold": "held", "release": "released", "spend": "captured"}[kind]
    return orjson.dumps({**orjson.loads(VERSION_0[name]), "points": 0} | ({} if held is None else {"held": held}))


@pytest.mark.parametrize(
    ("steps", "held"),
    [
        ([("hold", 40)], 40),
        ([("hold", 40), ("release", -40)], 0),
        ([("hold", 40), ("hold", 5), ("spend", -40)], 5),
        ([("hold", 40), ("spend", None)], 40),
        ([("hold", "forty")], 0),
    ],
    ids=str,
)
def test_what_is_held_is_what_the_explanations_come_to(steps: list[tuple[str, Any]], held: int) -> None:
    transfers, account = list(SOUND.transfers), SOUND.account
    for kind, change in steps:
        last = transfers[-1]
        changed: Any = {"kind": kind, "seq": last.seq + 1, "points": 0, "explanation": explained(kind, change)}
        transfers.append(with_hash(last.hash, last._replace(**changed)))
    account = account._replace(last_seq=transfers[-1].seq, head_hash=transfers[-1].hash)
    assert faults(account._replace(held=held), transfers) == []
    assert faults(account._replace(held=held + 1), transfers) == [
        f"the account's held is {held + 1}, its transfers come to {held}"
    ]
