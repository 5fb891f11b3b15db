"""How an account changes: plain functions over frozen values. Postgres and the in-memory ledger both run these."""

import hashlib
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

import orjson

from abacus.core.errors import Reason, SetAside
from abacus.ledger.award import Award, Kind

MAX_BALANCE: Final = 2**63 - 1
NO_HASH: Final = b""
HASH_BYTES: Final = 32

_EARN: Final = Kind.EARN  # looking up a member of an enumeration takes longer than the comparison
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


# A member and a program. Sorting these gives the order in which accounts are locked. A plain tuple, because posting
# makes several for each award.
AccountId: TypeAlias = tuple[str, str]


class Account(NamedTuple):
    """What an account holds after its last transfer."""

    member_id: str
    program: str
    country: str
    balance: int
    held: int
    earned_total: int
    expires_on: date | None
    last_seq: int
    head_hash: bytes

    @classmethod
    def opened(cls, id_: AccountId, country: str) -> "Account":
        return cls(*id_, country, 0, 0, 0, None, 0, NO_HASH)


# All of a transfer but its hash, in the order of `Transfer`'s fields.
TransferBody: TypeAlias = tuple[
    str,
    str,
    int,
    str,
    int,
    int,
    str,
    str,
    datetime,
    datetime,
    date | None,
    bytes,
    str | None,
    str | None,
]


class Transfer(NamedTuple):
    """One change of one account, never altered afterwards. The fields stand in the order of the table's columns."""

    member_id: str
    program: str
    seq: int
    kind: Kind
    points: int
    balance_after: int
    key: str
    country: str
    occurred_at: datetime
    posted_at: datetime
    expires_on: date | None
    explanation: bytes
    reverses: str | None
    actor: str | None
    hash: bytes


def apply(account: Account, award: Award, posted_at: datetime) -> tuple[Account, Transfer]:
    """The account after the award, and the transfer that took it there.

    Raises `SetAside` for an award that no account can take.
    """
    if award.kind is not _EARN or award.points < 0:
        raise SetAside(Reason.INVALID, f"an award of kind {award.kind} cannot carry {award.points} points")
    balance = account.balance + award.points
    if balance > MAX_BALANCE:
        raise SetAside(Reason.OUT_OF_RANGE, f"{award.points} points would take the balance past {MAX_BALANCE}")
    expires_on = expiry_after(account.expires_on, award.expires_on, activity=award.activity)
    seq = account.last_seq + 1
    body = (
        account.member_id,
        account.program,
        seq,
        award.kind,
        award.points,
        balance,
        award.key,
        award.country,
        award.occurred_at,
        posted_at,
        expires_on,
        award.explanation,
        None,
        None,
    )
    head = chain(account.head_hash, body)
    after = Account(
        account.member_id,
        account.program,
        account.country,
        balance,
        account.held,
        account.earned_total + award.points,
        expires_on,
        seq,
        head,
    )
    return after, Transfer(*body, head)


class MonthEnd(NamedTuple):
    """The end of a month in a country: what was good until a day of that month, or of one before it, has lapsed."""

    key: str  # under which an account can lapse once
    last_day: date
    lapsed_at: datetime


def lapse(account: Account, end: MonthEnd, posted_at: datetime) -> tuple[Account, Transfer] | None:
    """The account after its available points lapsed, and the transfer that took them; nothing where nothing lapses,
    because the member was active again or has nothing to lose.

    What is held stays, and its date with it: it lapses with a later month's end if it is released.
    """
    if account.expires_on is None or account.expires_on > end.last_day:
        return None
    available = account.balance - account.held
    if available <= 0:
        return None
    left = account.held
    explanation = {
        "expired_on": account.expires_on,
        "balance": account.balance,
        "held": account.held,
        "points": -available,
    }
    expires_on = account.expires_on if left else None
    seq = account.last_seq + 1
    body = (
        account.member_id,
        account.program,
        seq,
        Kind.EXPIRE,
        -available,
        left,
        end.key,
        account.country,
        end.lapsed_at,
        posted_at,
        expires_on,
        orjson.dumps(explanation),
        None,
        None,
    )
    head = chain(account.head_hash, body)
    after = account._replace(balance=left, expires_on=expires_on, last_seq=seq, head_hash=head)
    return after, Transfer(*body, head)


def expiry_after(current: date | None, proposed: date, *, activity: bool) -> date:
    """Activity moves the date forward and never back; a gift only sets it where there is none."""
    if current is None:
        return proposed
    return max(current, proposed) if activity else current


def chain(previous: bytes, body: TransferBody) -> bytes:
    """The hash of a transfer, over the hash before it and every other field: change one, and all after it differ."""
    (
        member_id,
        program,
        seq,
        kind,
        points,
        balance_after,
        key,
        country,
        occurred_at,
        posted_at,
        expires_on,
        explanation,
        reverses,
        actor,
    ) = body
    facts = [
        member_id,
        program,
        seq,
        kind,
        points,
        balance_after,
        key,
        country,
        (occurred_at - _EPOCH) // _MICROSECOND,
        (posted_at - _EPOCH) // _MICROSECOND,
        expires_on,
        reverses,
        actor,
    ]
    return hashlib.sha256(previous + orjson.dumps(facts) + explanation).digest()
