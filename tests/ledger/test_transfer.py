"""How one award changes one account, and the chain of hashes that shows every later change."""

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.core.sources import STREAM
from abacus.ledger.decide.chain import UnknownFormat, chain
from abacus.ledger.decide.transfer import apply, expiry_after, moved
from abacus.ledger.types.account import MAX_BALANCE, NO_HASH, Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import AWARDED, TransferKind
from abacus.ledger.types.transfer import Transfer
from tests.support.awards import AWARD, NOW, award, awards_to_bob

BOB = Account.opened(("bob", "GRP"), "SG")
JULY, AUGUST, SEPTEMBER = date(2026, 7, 31), date(2026, 8, 31), date(2026, 9, 30)


def applied(some: Sequence[Award], account: Account = BOB) -> tuple[Account, list[Transfer]]:
    transfers: list[Transfer] = []
    for each in some:
        account, transfer = apply(account, each, NOW)
        transfers.append(transfer)
    return account, transfers


def broken_at(transfers: Sequence[Transfer]) -> list[int]:
    """The places in an account's history whose hash does not follow from the transfer and the hash before it."""
    before = [NO_HASH, *(transfer.hash for transfer in transfers)]
    return [
        place
        for place, (previous, transfer) in enumerate(zip(before, transfers, strict=False))
        if chain(previous, transfer[:-1]) != transfer.hash
    ]


def test_a_hash_of_the_first_format_stays_what_it_was() -> None:
    """The hash was recorded when there was no other format; it covers neither the source nor the format."""
    _, transfer = apply(BOB, AWARD, NOW)
    recorded = "993f0ae1296e4bfc443247ae87d00458151a6daba844de49a0160ec74da3997b"
    assert chain(NO_HASH, transfer._replace(source=None, format=1)[:-1]).hex() == recorded


def test_a_hash_of_the_second_format_stays_what_it_was() -> None:
    """Recorded when it was the current one; it does not cover the way in which the account lapses."""
    _, transfer = apply(BOB, AWARD, NOW)
    recorded = "e07edbff5decd72d1e58908b025c9acbb905c7439a4a04c2316ea8af2d03b91f"
    assert chain(NO_HASH, transfer._replace(lifetime=None, format=2)[:-1]).hex() == recorded


def test_a_hash_of_an_unknown_format_is_not_guessed() -> None:
    _, transfer = apply(BOB, AWARD, NOW)
    with pytest.raises(UnknownFormat, match="format 99; this version knows 1, 2, 3, 4"):
        chain(NO_HASH, transfer._replace(format=99)[:-1])


def test_the_first_award_of_an_account() -> None:
    account, transfer = apply(BOB, AWARD, NOW)
    assert transfer == Transfer(
        member_id="bob",
        program="GRP",
        seq=1,
        kind=AWARD.kind,
        points=180,
        balance_after=180,
        key="txn:rides:T-1001",
        country="SG",
        occurred_at=AWARD.occurred_at,
        posted_at=NOW,
        expires_on=JULY,
        explanation=AWARD.explanation,
        reverses=None,
        actor=None,
        source=STREAM,
        lifetime=False,
        vests_on=None,
        vests_at=None,
        format=3,
        hash=bytes.fromhex("d1847479095b825ea3a4206f03c9cd4c151680b01ddc9635f0c4cc8f45f16b60"),
    )
    assert account == Account("bob", "GRP", "SG", 180, 0, 180, JULY, 1, transfer.hash, active_until=JULY)


@given(st.lists(awards_to_bob, min_size=1, max_size=12))
@settings(deadline=None)
def test_every_award_leaves_the_account_in_order(some: list[Award]) -> None:
    account, transfers = applied(some)
    assert [transfer.seq for transfer in transfers] == list(range(1, len(some) + 1))
    assert account.last_seq == len(transfers)
    assert account.balance == account.earned_total == sum(transfer.points for transfer in transfers)
    balance = 0
    for transfer, each in zip(transfers, some, strict=True):
        balance += each.points
        assert (transfer.points, transfer.balance_after) == (each.points, balance)
        assert (transfer.key, transfer.explanation, transfer.kind) == (each.key, each.explanation, each.kind)
        assert (transfer.occurred_at, transfer.posted_at, transfer.country) == (each.occurred_at, NOW, each.country)
    assert account.balance == transfers[-1].balance_after
    assert account.head_hash == transfers[-1].hash
    assert account.expires_on == transfers[-1].expires_on
    assert (account[:3], account.held) == (BOB[:3], BOB.held)
    assert broken_at(transfers) == []


@given(st.lists(awards_to_bob, max_size=12))
@settings(deadline=None)
def test_the_expiry_date_never_goes_back_and_gifts_set_it_only_where_there_is_none(some: list[Award]) -> None:
    account = BOB
    for each in some:
        after, _ = apply(account, each, NOW)
        assert after.expires_on == after.active_until
        if account.expires_on is None:
            assert after.expires_on == each.expires_on
        elif each.activity:
            assert after.expires_on == max(account.expires_on, each.expires_on)
        elif account.balance or account.expires_on > NOW.date():
            assert after.expires_on == account.expires_on
        account = after


@pytest.mark.parametrize(
    ("current", "proposed", "activity", "outcome"),
    [
        (None, JULY, True, JULY),
        (None, JULY, False, JULY),
        (JULY, AUGUST, True, AUGUST),
        (AUGUST, JULY, True, AUGUST),
        (JULY, JULY, True, JULY),
        (JULY, SEPTEMBER, False, JULY),
        (SEPTEMBER, JULY, False, SEPTEMBER),
    ],
    ids=[
        "the first transaction",
        "the first gift",
        "a later transaction",
        "a late transaction",
        "another the same month",
        "a gift",
        "an old gift",
    ],
)
@pytest.mark.parametrize("balance", [0, 10], ids=["emptied", "not emptied"])
def test_expiry_after(
    balance: int,
    current: date | None,
    proposed: date,
    activity: bool,  # noqa: FBT001  # a column of the table
    outcome: date,
) -> None:
    """That the account was emptied meanwhile makes no difference."""
    account = BOB._replace(balance=balance, active_until=current)
    assert expiry_after(account, proposed, NOW, activity=activity) == outcome


@pytest.mark.parametrize(
    ("balance", "at", "outcome"),
    [
        (0, "2026-07-30T23:59:59Z", JULY),
        (0, "2026-07-31T00:00:00Z", AUGUST),
        (-9, "2026-07-31T00:00:00Z", AUGUST),
        (10, "2026-07-31T00:00:00Z", JULY),
        (10, "2026-08-31T00:00:00Z", JULY),
    ],
)
def test_a_gift_brings_its_day_once_that_of_an_empty_account_has_come(balance: int, at: str, outcome: date) -> None:
    account = BOB._replace(balance=balance, expires_on=JULY, active_until=JULY)
    assert expiry_after(account, AUGUST, datetime.fromisoformat(at), activity=False) == outcome
    assert expiry_after(account, date(2026, 6, 30), datetime.fromisoformat(at), activity=False) == JULY


def test_by_lots_only_a_transaction_moves_the_day_by_activity() -> None:
    by_lots = BOB._replace(balance=10, expires_on=AUGUST, active_until=AUGUST, lifetime=True)
    for activity, until in ((False, AUGUST), (True, SEPTEMBER)):
        account, transfer = apply(by_lots, award(expires_on=SEPTEMBER, activity=activity, lifetime=True), NOW)
        assert (account.expires_on, account.active_until) == (AUGUST, until)
        assert (transfer.expires_on, transfer.lifetime) == (SEPTEMBER, True)


def test_an_emptied_account_remembers_until_when_its_member_was_active() -> None:
    """100 on 15 September, all of it spent, then a late transaction of 10 April."""
    account, _ = apply(BOB, award(points=100, expires_on=date(2027, 3, 31)), NOW)
    spent = account._replace(balance=0, expires_on=None)
    account, transfer = apply(spent, award(points=500, expires_on=date(2026, 10, 31)), NOW)
    assert account.expires_on == transfer.expires_on == date(2027, 3, 31)


@pytest.mark.parametrize(
    ("balance", "points", "outcome"),
    [
        (0, 0, 0),
        (MAX_BALANCE, 0, MAX_BALANCE),
        (MAX_BALANCE - 1, 1, MAX_BALANCE),
        (MAX_BALANCE, 1, Reason.OUT_OF_RANGE),
        (MAX_BALANCE - 10**15 + 1, 10**15, Reason.OUT_OF_RANGE),
        (180, -1, Reason.INVALID),
    ],
)
def test_what_an_account_can_take(balance: int, points: int, outcome: int | Reason) -> None:
    account = BOB._replace(balance=balance)
    if isinstance(outcome, Reason):
        with pytest.raises(SetAside) as aside:
            apply(account, award(points=points), NOW)
        assert aside.value.reason is outcome
    else:
        assert apply(account, award(points=points), NOW)[0].balance == outcome


@pytest.mark.parametrize("kind", sorted(set(TransferKind) - AWARDED))
def test_an_award_earns(kind: TransferKind) -> None:
    with pytest.raises(SetAside, match=f"kind {kind} cannot carry 180 points"):
        apply(BOB, award(kind=kind), NOW)


@pytest.mark.parametrize("changes", [{"activity": False}, {"source": "stream"}])
def test_what_comes_by_an_exchange_is_activity_and_an_exchanges(changes: dict[str, Any]) -> None:
    exchanged = award(kind=TransferKind.EXCHANGE_IN, source="exchange:skymiles", activity=True)
    assert apply(BOB, exchanged, NOW)[1].kind is TransferKind.EXCHANGE_IN
    with pytest.raises(SetAside, match="is activity, and an exchange's"):
        apply(BOB, exchanged._replace(**changes), NOW)


@pytest.mark.parametrize(
    ("balance", "points", "fits"),
    [
        (MAX_BALANCE - 1, 1, True),
        (MAX_BALANCE, 1, False),
        (1 - MAX_BALANCE, -1, True),
        (-MAX_BALANCE, -1, False),
    ],
)
def test_how_far_a_balance_goes(balance: int, points: int, fits: bool) -> None:  # noqa: FBT001  # a column of the table
    with nullcontext() if fits else pytest.raises(SetAside, match="past"):
        after, transfer = moved(
            BOB._replace(balance=balance),
            TransferKind.ADJUST,
            points,
            key="adjust:1",
            country="SG",
            occurred_at=NOW,
            posted_at=NOW,
            expires_on=JULY,
            explanation=b"{}",
            source="person:ann",
        )
        assert after.balance == transfer.balance_after == balance + points


OTHER: dict[str, Any] = {
    "member_id": "bobby",
    "program": "OVO",
    "seq": 17,
    "kind": "spend",
    "points": 181,
    "balance_after": 999,
    "key": "txn:rides:T-9",
    "country": "ID",
    "occurred_at": AWARD.occurred_at + timedelta(microseconds=1),
    "posted_at": NOW + timedelta(microseconds=1),
    "expires_on": None,
    "explanation": AWARD.explanation + b" ",
    "reverses": "txn:rides:T-1",
    "actor": "ops",
    "source": "import",
    "lifetime": True,
    "vests_on": date(2026, 6, 2),
    "vests_at": NOW + timedelta(hours=4),
    "format": 1,
    "hash": b"\0" * 32,
}


def test_every_field_is_tampered_with_below() -> None:
    assert set(OTHER) == set(Transfer._fields)


@pytest.mark.parametrize("place", [0, 1, 3], ids=["first", "second", "last"])
@pytest.mark.parametrize("name", OTHER)
def test_a_changed_field_breaks_the_chain(name: str, place: int) -> None:
    _, transfers = applied([award(key=f"txn:rides:T-{number}") for number in range(4)])
    transfers[place] = transfers[place]._replace(**{name: OTHER[name]})
    assert place in broken_at(transfers)


@pytest.mark.parametrize("name", sorted(set(OTHER) - {"hash"}))
def test_whoever_seals_a_changed_transfer_again_breaks_the_next(name: str) -> None:
    _, transfers = applied([award(key=f"txn:rides:T-{number}") for number in range(4)])
    changed = transfers[1]._replace(**{name: OTHER[name]})
    transfers[1] = changed._replace(hash=chain(transfers[0].hash, changed[:-1]))
    assert broken_at(transfers) == [2]


@given(st.lists(awards_to_bob, min_size=2, max_size=8, unique_by=lambda each: each.key), st.data())
@settings(deadline=None)
def test_a_removed_inserted_or_moved_transfer_breaks_the_chain(some: list[Award], data: st.DataObject) -> None:
    _, transfers = applied(some)
    place = data.draw(st.integers(0, len(some) - 2))
    removed = transfers[:place] + transfers[place + 1 :]
    doubled = transfers[: place + 1] + transfers[place:]
    swapped = [*transfers[:place], transfers[place + 1], transfers[place], *transfers[place + 2 :]]
    assert all(broken_at(changed) for changed in (removed, doubled, swapped))


@given(st.datetimes(datetime(2000, 1, 2), datetime(2099, 12, 30)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001  # as it asks for
@settings(deadline=None)
def test_the_offset_in_which_a_time_is_read_back_does_not_matter(at: datetime, minutes: int) -> None:
    written = at.replace(tzinfo=UTC)
    read = written.astimezone(timezone(timedelta(minutes=minutes)))
    _, transfer = apply(BOB, award(occurred_at=written), NOW)
    assert broken_at([transfer._replace(occurred_at=read, posted_at=NOW.astimezone(read.tzinfo))]) == []


def test_the_kind_is_hashed_as_it_is_stored() -> None:
    _, transfer = apply(BOB, AWARD, NOW)
    assert broken_at([transfer._replace(kind="earn")]) == []  # type: ignore[arg-type]  # as Postgres gives it
