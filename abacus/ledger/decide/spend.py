"""Points spent, held, captured and released: how the account and the hold change. Pure."""

from datetime import datetime

from abacus.core.ids import fingerprint
from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, leave, take
from abacus.ledger.types.account import Account
from abacus.ledger.types.award import Kind
from abacus.ledger.types.movement import (
    Agent,
    Because,
    Capture,
    Decline,
    Declined,
    Hold,
    HoldStatus,
    Release,
    Reserve,
    Spend,
)
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Captured, Explanation, Held, Released, Spent


def spend(before: AccountWithLots, asked: Spend, now: datetime) -> Change:
    """Raises `Declined` where not enough is available."""
    check_available(before.account, asked.points)
    explanation = Spent(
        points=-asked.points,
        reason=asked.reason,
        spent_by=asked.actor,
        available=before.account.available - asked.points,
    )
    return take(before, asked.points, _entry(Kind.SPEND, asked, explanation, now))


def reserve(before: AccountWithLots, asked: Reserve, now: datetime) -> Change:
    """Raises `Declined` where not enough is available."""
    account = before.account
    check_available(account, asked.points)
    explanation = Held(
        points=0,
        hold=str(asked.hold_id),
        held=asked.points,
        until=asked.until,
        reason=asked.reason,
        held_by=asked.actor,
        available=account.available - asked.points,
    )
    change = leave(before, _entry(Kind.HOLD, asked, explanation, now, held=asked.points))
    placed = Hold(
        asked.member_id,
        asked.hold_id,
        asked.program,
        account.country,
        asked.points,
        asked.until,
        HoldStatus.OPEN,
        asked.actor,
        change.transfer.seq,
        None,
    )
    return change._replace(hold=placed)


def capture(before: AccountWithLots, held: Hold | None, asked: Capture, now: datetime) -> Change:
    """Raises `Declined` for a hold that is not open, or too small. The points are there: they were held."""
    found = _open(held)
    if found.until <= now:
        raise Declined(Decline.HOLD_NOT_OPEN, f"the hold was good until {found.until.isoformat()}")
    points = found.points if asked.points is None else asked.points
    if points > found.points:
        raise Declined(Decline.HOLD_TOO_SMALL, f"{points} points; {found.points} are held")
    explanation = Captured(
        points=-points,
        hold=str(found.hold_id),
        held=-found.points,
        spent_by=asked.actor,
        available=before.account.available + found.points - points,
    )
    change = take(before, points, _entry(Kind.SPEND, asked, explanation, now, held=-found.points))
    return change._replace(hold=found._replace(status=HoldStatus.CAPTURED, settled_seq=change.transfer.seq))


def release(before: AccountWithLots, held: Hold | None, asked: Release, now: datetime) -> Change:
    """Raises `Declined` for a hold that is not open, or not over yet when it is to expire."""
    found = _open(held)
    if asked.because is Because.EXPIRED and found.until > now:
        raise Declined(Decline.HOLD_NOT_OPEN, f"the hold is good until {found.until.isoformat()}")
    explanation = Released(
        points=0,
        hold=str(found.hold_id),
        held=-found.points,
        because=asked.because,
        available=before.account.available + found.points,
    )
    change = leave(before, _entry(Kind.RELEASE, asked, explanation, now, held=-found.points))
    return change._replace(hold=found._replace(status=HoldStatus(asked.because), settled_seq=change.transfer.seq))


def release_of(held: Hold, agent: Agent, because: Because) -> Release:
    """One key, whatever the cause: a hold is let go once."""
    facts = fingerprint(("release", str(held.hold_id), because))
    key = f"release:{held.hold_id}"
    return Release(key, held.member_id, held.program, held.country, facts, *agent, held.hold_id, because)


def check_available(account: Account, points: int) -> None:
    """Raises `Declined`."""
    if points > account.available:
        raise Declined(
            Decline.INSUFFICIENT, f"{points} points; {max(0, account.available)} of {account.balance} are available"
        )


def _open(held: Hold | None) -> Hold:
    if held is None:
        raise Declined(Decline.NO_SUCH_HOLD, "no such hold of this member")
    if held.status is not HoldStatus.OPEN:
        raise Declined(Decline.HOLD_NOT_OPEN, f"the hold is {held.status}")
    return held


def _entry(
    kind: Kind,
    asked: Spend | Reserve | Capture | Release,
    explanation: Explanation,
    now: datetime,
    *,
    held: int = 0,
) -> Entry:
    return Entry(kind, asked.key, text_of(explanation), now, now, asked.source, held=held, actor=asked.actor)
