"""Points put into an account and taken out of it, lot by lot. Pure; all movements are made of these functions."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.ledger.decide.lots import Draw, Lot, OpenLot, after_oldest, first_day
from abacus.ledger.decide.transfer import day_with_lot, expiry_after, moved
from abacus.ledger.types.account import Account
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.transfer import Transfer


class AccountWithLots(NamedTuple):
    """An account and, if it lapses by lots, its open lots, the oldest first."""

    account: Account
    lots: tuple[OpenLot, ...] = ()


class Change(NamedTuple):
    """The effect of a movement: the account after it, and the rows to write."""

    after: AccountWithLots
    transfer: Transfer
    draws: Sequence[Draw] = ()
    hold: Hold | None = None


class Entry(NamedTuple):
    """The fields of a movement's transfer besides its points."""

    kind: TransferKind
    key: str
    explanation: bytes
    occurred_at: datetime
    posted_at: datetime
    source: str
    held: int = 0
    reverses: str | None = None
    actor: str | None = None
    vests_on: date | None = None
    vests_at: datetime | None = None


_NONE: Final[Mapping[int, int]] = {}


def take(before: AccountWithLots, points: int, entry: Entry, *, by_name: Mapping[int, int] = _NONE) -> Change:
    """Take points out: from lots by name (their `seq`), the rest from the oldest. The caller checks that the account
    has them; points that it does not have become a debt.
    """
    account, lots = before
    unnamed = [each._replace(left=each.left - by_name.get(each.lot.seq, 0)) for each in lots]
    from_oldest = points - sum(by_name.values())
    staying = after_oldest(unnamed, from_oldest)
    taken, transfer = _moved(account, -points, entry, _day_after_taking(account, points, staying), None)
    taken = taken._replace(lots_drawn=account.lots_drawn + from_oldest)
    draws = [
        Draw(account.member_id, account.program, lot_seq, transfer.seq, drawn) for lot_seq, drawn in by_name.items()
    ]
    return Change(AccountWithLots(taken, tuple(staying)), transfer, draws)


def put(before: AccountWithLots, points: int, good_until: date | None, entry: Entry, *, lifetime: bool) -> Change:
    """Put points in, as a lot of their own. Like a gift, they leave the expiry of other points alone; without
    `good_until` they set none. An empty account lapses by lots from now on if `lifetime` says so.
    """
    account, lots = before
    if account.balance <= 0:
        account = account._replace(lifetime=lifetime)
    if account.lifetime:
        return _put_lot(AccountWithLots(account, lots), points, good_until, entry)
    day = account.expires_on
    if points and good_until is not None:
        day = expiry_after(account, good_until, entry.posted_at, activity=False)
    after, transfer = _moved(account, points, entry, day, None)
    return Change(AccountWithLots(after), transfer)


def put_back(before: AccountWithLots, points: int, good_until: date, entry: Entry) -> Change:
    """Put points back that were taken out: they live as long as if they had stayed, neither longer nor shorter.

    By activity that is the account's day, even if it has passed; by lots it is `good_until`. The account lapses in the
    way that it did, even if it was empty.
    """
    account = before.account
    if account.lifetime:
        return _put_lot(before, points, good_until, entry)
    day = account.active_until or good_until
    after, transfer = _moved(account, points, entry, day if points else account.expires_on, None)
    return Change(AccountWithLots(after), transfer)


def _put_lot(before: AccountWithLots, points: int, good_until: date | None, entry: Entry) -> Change:
    account, lots = before
    good_until = good_until if points else None
    after, transfer = _moved(account, points, entry, day_with_lot(account, points, good_until), good_until)
    left = min(points, after.balance)
    lot = Lot(transfer.seq, entry.key, points, 0, entry.occurred_at, good_until)
    return Change(AccountWithLots(after, (*lots, OpenLot(lot, left)) if left > 0 else lots), transfer)


def leave(before: AccountWithLots, entry: Entry) -> Change:
    """Leave the points as they are: only the held points change."""
    after, transfer = _moved(before.account, 0, entry, before.account.expires_on, None)
    return Change(AccountWithLots(after, before.lots), transfer)


def _day_after_taking(account: Account, points: int, staying: Sequence[OpenLot]) -> date | None:
    if account.balance <= points:
        return None  # nothing is left to lapse; the next points bring a day of their own
    return first_day(staying) if account.lifetime else account.expires_on


def _moved(
    account: Account, points: int, entry: Entry, expires_on: date | None, good_until: date | None
) -> tuple[Account, Transfer]:
    return moved(
        account,
        entry.kind,
        points,
        key=entry.key,
        country=account.country,
        occurred_at=entry.occurred_at,
        posted_at=entry.posted_at,
        expires_on=expires_on,
        good_until=good_until,
        explanation=entry.explanation,
        held=entry.held,
        reverses=entry.reverses,
        source=entry.source,
        actor=entry.actor,
        vests_on=entry.vests_on,
        vests_at=entry.vests_at,
    )
