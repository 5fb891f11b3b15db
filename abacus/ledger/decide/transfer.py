"""How an account changes: plain functions over frozen values. Postgres and the in-memory ledger both run these."""

from datetime import date, datetime
from typing import Final

from abacus.core.errors import Reason, SetAside
from abacus.core.sources import EXCHANGE_PREFIX
from abacus.ledger.decide.chain import CURRENT, VESTING, chain
from abacus.ledger.decide.pending import with_pending
from abacus.ledger.types.account import MAX_BALANCE, Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import AWARDED, TransferKind
from abacus.ledger.types.transfer import Transfer

_EARN: Final = TransferKind.EARN  # looking up a member of an enumeration takes longer than the comparison
_EXCHANGE_IN: Final = TransferKind.EXCHANGE_IN


def apply(account: Account, award: Award, posted_at: datetime) -> tuple[Account, Transfer]:
    """The account after the award, and the transfer that took it there.

    Raises `SetAside` for an award that no account can take.
    """
    if award.kind is not _EARN or award.points < 0:
        _check_kind(award)
    balance = account.balance + award.points
    if balance > MAX_BALANCE:
        raise SetAside(Reason.OUT_OF_RANGE, f"{award.points} points would take the balance past {MAX_BALANCE}")
    if account.lifetime:
        return _apply_by_lots(account, award, posted_at)
    expires_on = expiry_after(account, award.expires_on, posted_at, activity=award.activity)
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
        award.source,
        account.lifetime,
        award.vests_on,
        award.vests_at,
        CURRENT if award.vests_on is None else VESTING,
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
        account.lots_closed,
        account.lots_drawn,
        account.lapsed_seq,
        account.lifetime,
        expires_on,
        account.vesting,
    )
    return with_pending(after, award.vests_at, award.points, posted_at), Transfer(*body, head)


def _check_kind(award: Award) -> None:
    """Raises `SetAside`. Whatever comes by an exchange is activity."""
    if award.kind not in AWARDED or award.points < 0:
        raise SetAside(Reason.INVALID, f"an award of kind {award.kind} cannot carry {award.points} points")
    if award.kind is _EXCHANGE_IN and not (award.activity and award.source.startswith(EXCHANGE_PREFIX)):
        raise SetAside(Reason.INVALID, f"an award of kind {award.kind} is activity, and an exchange's")


def _apply_by_lots(account: Account, award: Award, posted_at: datetime) -> tuple[Account, Transfer]:
    after, transfer = moved(
        account,
        award.kind,
        award.points,
        key=award.key,
        country=award.country,
        occurred_at=award.occurred_at,
        posted_at=posted_at,
        expires_on=day_with_lot(account, award.points, award.expires_on),
        good_until=award.expires_on,
        explanation=award.explanation,
        source=award.source,
        vests_on=award.vests_on,
        vests_at=award.vests_at,
    )
    until = _latest(account.active_until, award.expires_on) if award.activity else account.active_until
    after = after._replace(earned_total=account.earned_total + award.points, active_until=until)
    return with_pending(after, award.vests_at, award.points, posted_at), transfer


def day_with_lot(account: Account, points: int, good_until: date | None) -> date | None:
    """The account's day once a lot is added to an account that lapses by lots: the first day of its lots that hold
    points. A lot that a debt takes at once holds none.
    """
    days = [account.expires_on] if account.balance > 0 else []
    if points > 0 and account.balance + points > 0:
        days.append(good_until)
    return min((day for day in days if day is not None), default=None)


def moved(
    account: Account,
    kind: TransferKind,
    points: int,
    *,
    key: str,
    country: str,
    occurred_at: datetime,
    posted_at: datetime,
    expires_on: date | None,
    explanation: bytes,
    source: str,
    held: int = 0,
    good_until: date | None = None,
    reverses: str | None = None,
    actor: str | None = None,
    vests_on: date | None = None,
    vests_at: datetime | None = None,
) -> tuple[Account, Transfer]:
    """The account after any change, and the transfer. `held` is added to the held points; `good_until` is the lot's own
    day where it differs from the account's. Points that vest later are the caller's.

    Raises `SetAside` for a balance that cannot be held.
    """
    balance = account.balance + points
    if not -MAX_BALANCE <= balance <= MAX_BALANCE:
        raise SetAside(Reason.OUT_OF_RANGE, f"{points} points would take the balance past {MAX_BALANCE}")
    seq = account.last_seq + 1
    body = (
        account.member_id,
        account.program,
        seq,
        kind,
        points,
        balance,
        key,
        country,
        occurred_at,
        posted_at,
        good_until or expires_on,
        explanation,
        reverses,
        actor,
        source,
        account.lifetime,
        vests_on,
        vests_at,
        CURRENT if vests_on is None else VESTING,
    )
    head = chain(account.head_hash, body)
    after = account._replace(
        balance=balance,
        held=account.held + held,
        expires_on=expires_on,
        last_seq=seq,
        head_hash=head,
        active_until=account.active_until if account.lifetime else _latest(account.active_until, expires_on),
    )
    return after, Transfer(*body, head)


def expiry_after(account: Account, proposed: date, posted_at: datetime, *, activity: bool) -> date:
    """The day of an account by activity once points come in. Activity moves the account's day forward and never back,
    even where all its points are gone meanwhile. A gift goes by that day; into an empty account it brings its own once
    that day has come: at midnight UTC, which is early enough in every country that the gift never lapses at once.
    """
    current = account.active_until
    if current is None:
        return proposed
    is_over = account.balance <= 0 and posted_at.date() >= current
    return max(current, proposed) if activity or is_over else current


def _latest(*days: date | None) -> date | None:
    return max((day for day in days if day is not None), default=None)
