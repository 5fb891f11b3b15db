"""Lots: which points of an account are still there, and which go first. Pure.

A lot is a transfer that added points. Points leave the oldest lot first, and nothing is written down for that: the
account keeps up to where its lots are used up (`lots_closed`) and how many points are gone from the later lots
(`lots_drawn`). Points that leave a lot by name instead, because its award is taken back or its own day has come, are a
`Draw`. So an award costs nothing more for being a lot. docs/adr/0016 has the argument.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import NamedTuple

from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.award_envelope import Award


class Draw(NamedTuple):
    """Points that the transfer `seq` took from one lot by name. Never altered, as the transfer is not."""

    member_id: str
    program: str
    lot_seq: int
    seq: int
    points: int


class Lot(NamedTuple):
    """A transfer that added points, and how many were taken from it by name."""

    seq: int
    key: str
    points: int
    drawn: int
    occurred_at: datetime
    expires_on: date | None

    @property
    def capacity(self) -> int:
        """The points of the lot that leave, or left, in the order of lots: all that are not drawn by name."""
        return self.points - self.drawn


class OpenLot(NamedTuple):
    """A lot and the points that remain of it."""

    lot: Lot
    left: int


def with_used_closed(account: Account, following: Iterable[Lot]) -> Account:
    """The same account, its cursor moved over used up lots; `following` are the lots after the cursor, in order."""
    closed, drawn = account.lots_closed, account.lots_drawn
    for lot in following:
        if lot.capacity > drawn:
            break
        closed, drawn = lot.seq, drawn - lot.capacity
    return account._replace(lots_closed=closed, lots_drawn=drawn)


def open_lots(account: Account, following: Sequence[Lot]) -> list[OpenLot]:
    """The lots of which points remain, the oldest first; `following` are all lots after the account's cursor."""
    drawn = account.lots_drawn
    remaining: list[OpenLot] = []
    for lot in following:
        left = lot.capacity - drawn
        if left > 0:
            remaining.append(OpenLot(lot, left))
        drawn = max(0, -left)
    return remaining


def first_day(lots: Iterable[OpenLot]) -> date | None:
    """The first day after which one of these lots lapses."""
    return min((each.lot.expires_on for each in lots if each.lot.expires_on is not None), default=None)


def after_oldest(lots: Sequence[OpenLot], points: int) -> list[OpenLot]:
    """The lots that remain when `points` leave, the oldest first."""
    left: list[OpenLot] = []
    for each in lots:
        taken = min(points, each.left)
        points -= taken
        if each.left > taken:
            left.append(each._replace(left=each.left - taken))
    return left


def changed_modes(awards: Iterable[Award], accounts: dict[AccountId, Account]) -> dict[AccountId, bool]:
    """The accounts whose way of lapsing these awards change, and whether each lapses by lots from now on.

    Activity under a lifetime card makes an account lapse by lots until it is empty. An empty account takes the way of
    the next award.
    """
    wanted: dict[AccountId, bool] = {}
    for award in awards:
        id_ = (award.member_id, award.program)
        account = accounts.get(id_)
        if account is not None:
            is_empty = account.balance <= 0
            wanted[id_] = wanted.get(id_, account.lifetime and not is_empty) or (
                award.lifetime and (award.activity or is_empty)
            )
    return {id_: lifetime for id_, lifetime in wanted.items() if lifetime != accounts[id_].lifetime}
