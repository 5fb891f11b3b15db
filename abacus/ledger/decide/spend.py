"""Points spent, held, captured and released: how the account and the hold change. Pure."""

from datetime import datetime

from abacus.core.ids import fingerprint
from abacus.core.points import plain
from abacus.core.sources import Agent
from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, leave, take
from abacus.ledger.types.account import Account
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Because, Capture, Decline, Declined, Hold, HoldStatus, Release, Reserve, Spend
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Captured, ExchangedOut, Explanation, Held, Released, Spent


def spend(before: AccountWithLots, movement: Spend, now: datetime) -> Change:
    """Raises `Declined` where not enough is available."""
    check_available(before.account, movement.points)
    tender = movement.tender
    explanation = Spent(
        points=-movement.points,
        reason=movement.reason,
        spent_by=movement.actor,
        available=before.account.available - movement.points,
        money=plain(tender.money) if tender else None,
        currency=tender.currency if tender else None,
        card=tender.card if tender else None,
        price=plain(tender.price) if tender and tender.price is not None else None,
    )
    return take(before, movement.points, _entry(TransferKind.SPEND, movement, explanation, now))


def reserve(before: AccountWithLots, movement: Reserve, now: datetime) -> Change:
    """Raises `Declined` where not enough is available."""
    account = before.account
    check_available(account, movement.points)
    explanation = Held(
        points=0,
        hold=str(movement.hold_id),
        held=movement.points,
        until=movement.until,
        reason=movement.reason,
        held_by=movement.actor,
        available=account.available - movement.points,
    )
    change = leave(before, _entry(TransferKind.HOLD, movement, explanation, now, held=movement.points))
    placed = Hold(
        member_id=movement.member_id,
        hold_id=movement.hold_id,
        program=movement.program,
        country=account.country,
        points=movement.points,
        until=movement.until,
        status=HoldStatus.OPEN,
        held_by=movement.actor,
        placed_seq=change.transfer.seq,
        settled_seq=None,
        settled_by=movement.source if movement.until is None else None,
    )
    return change._replace(hold=placed)


def capture(before: AccountWithLots, known: Hold | None, movement: Capture, now: datetime) -> Change:
    """Raises `Declined` for a hold that is not open, too small, or another's to settle. The points are there: they were
    held.
    """
    hold = _open(known, movement.source)
    if hold.until is not None and hold.until <= now:
        raise Declined(Decline.HOLD_NOT_OPEN, f"the hold was good until {hold.until.isoformat()}")
    points = hold.points if movement.points is None else movement.points
    if points > hold.points:
        raise Declined(Decline.HOLD_TOO_SMALL, f"{points} points; {hold.points} are held")
    kind = TransferKind.SPEND if movement.exchanged is None else TransferKind.EXCHANGE_OUT
    explanation = _captured(hold, movement, points, before.account.available + hold.points - points)
    change = take(before, points, _entry(kind, movement, explanation, now, held=-hold.points))
    return change._replace(hold=hold._replace(status=HoldStatus.CAPTURED, settled_seq=change.transfer.seq))


def _captured(hold: Hold, movement: Capture, points: int, available: int) -> Captured | ExchangedOut:
    what = movement.exchanged
    if what is None:
        return Captured(
            points=-points,
            hold=str(hold.hold_id),
            held=-hold.points,
            spent_by=movement.actor,
            available=available,
        )
    return ExchangedOut(
        points=-points,
        fee=what.fee,
        hold=str(hold.hold_id),
        held=-hold.points,
        exchange=str(what.exchange_id),
        programme=what.programme,
        partner=what.partner,
        theirs=what.theirs,
        unit=what.unit,
        spent_by=movement.actor,
        available=available,
    )


def release(before: AccountWithLots, known: Hold | None, movement: Release, now: datetime) -> Change:
    """Raises `Declined` for a hold that is not open, another's to settle, or not over yet when it is to expire."""
    hold = _open(known, movement.source)
    if movement.because is Because.EXPIRED and hold.until is not None and hold.until > now:
        raise Declined(Decline.HOLD_NOT_OPEN, f"the hold is good until {hold.until.isoformat()}")
    explanation = Released(
        points=0,
        hold=str(hold.hold_id),
        held=-hold.points,
        because=movement.because,
        available=before.account.available + hold.points,
    )
    change = leave(before, _entry(TransferKind.RELEASE, movement, explanation, now, held=-hold.points))
    return change._replace(hold=hold._replace(status=HoldStatus(movement.because), settled_seq=change.transfer.seq))


def release_of(held: Hold, agent: Agent, because: Because) -> Release:
    """The key is the same whatever the cause: a hold is released once."""
    facts = fingerprint(("release", str(held.hold_id), because))
    key = f"release:{held.hold_id}"
    return Release(key, held.member_id, held.program, held.country, facts, *agent, held.hold_id, because)


def check_available(account: Account, points: int) -> None:
    """Raises `Declined`."""
    if points > account.available:
        raise Declined(
            Decline.INSUFFICIENT, f"{points} points; {max(0, account.available)} of {account.balance} are available"
        )


def _open(held: Hold | None, source: str) -> Hold:
    if held is None:
        raise Declined(Decline.NO_SUCH_HOLD, "no such hold of this member")
    if held.status is not HoldStatus.OPEN:
        raise Declined(Decline.HOLD_NOT_OPEN, f"the hold is {held.status}")
    if held.settled_by not in {None, source}:
        raise Declined(Decline.HOLD_OF_EXCHANGE, f"the hold is one of {held.settled_by}, which alone settles it")
    return held


def _entry(
    kind: TransferKind,
    movement: Spend | Reserve | Capture | Release,
    explanation: Explanation,
    now: datetime,
    *,
    held: int = 0,
) -> Entry:
    return Entry(kind, movement.key, text_of(explanation), now, now, movement.source, held=held, actor=movement.actor)
