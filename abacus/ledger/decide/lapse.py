"""Lapsing: the points that an account loses with the end of a month. Pure."""

from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.core.sources import CLOCK
from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, take
from abacus.ledger.decide.chain import CURRENT, chain
from abacus.ledger.decide.pending import vested
from abacus.ledger.types.account import Account
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Lapsed, LapsedByLots, LapsedWhole

_EXPIRE: Final = TransferKind.EXPIRE  # looking up a member of an enumeration takes longer than the comparison


class MonthEnd(NamedTuple):
    """The end of a month in a country: points that were good until a day of that month, or of an earlier one, lapse."""

    key: str  # under which an account can lapse once
    last_day: date
    lapsed_at: datetime


def lapse(before: AccountWithLots, end: MonthEnd, posted_at: datetime) -> Change | None:
    """The account after the month's end; None where no points lapse, because the member was active again or has none
    to lose.

    Held points stay, and their date with them: released, they lapse with a later month's end. By lots they rest on the
    oldest, as the spend that may follow would take them. Pending points stay until they vest; by lots they are the
    newest points.
    """
    account = vested(before.account, posted_at)
    day = account.expires_on
    if day is None or day > end.last_day or account.available <= 0:
        return None
    if account.lifetime:
        return _lapse_lots(AccountWithLots(account, before.lots), end, posted_at)
    return _lapse_whole(account, end, day, posted_at)


def _lapse_whole(account: Account, end: MonthEnd, day: date, posted_at: datetime) -> Change:
    """What taking all available points does, in one step: most of a month's end are such accounts, and to make the
    values between took half of the time to decide it.
    """
    pending, held = account.pending, account.held
    staying = held + pending
    points, seq = staying - account.balance, account.last_seq + 1
    explanation = LapsedWhole(
        balance=account.balance,
        held=held,
        expired_on=day,
        points=points,
        lots_closed=account.lots_closed,
        lots_drawn=account.lots_drawn,
        pending=pending or None,
    )
    expires_on = day if staying else None  # where nothing is left, the next points bring a day of their own
    body = (
        account.member_id,
        account.program,
        seq,
        _EXPIRE,
        points,
        staying,
        end.key,
        account.country,
        end.lapsed_at,
        posted_at,
        expires_on,
        text_of(explanation),
        None,
        None,
        CLOCK,
        account.lifetime,
        None,
        None,
        CURRENT,
    )
    head = chain(account.head_hash, body)
    after = Account(
        account.member_id,
        account.program,
        account.country,
        staying,
        held,
        account.earned_total,
        expires_on,
        seq,
        head,
        account.lots_closed if staying else seq,
        account.lots_drawn - points if staying else 0,
        seq,
        account.lifetime,
        max(account.active_until or day, expires_on) if expires_on else account.active_until,
        account.vesting,
    )
    return Change(AccountWithLots(after), Transfer(*body, head))


def _lapse_lots(before: AccountWithLots, end: MonthEnd, posted_at: datetime) -> Change | None:
    account = before.account
    held = account.held
    lapsing: dict[int, int] = {}
    days: list[date] = []
    free = account.available
    for each in before.lots:
        resting = min(each.left, held)
        held -= resting
        day = each.lot.expires_on
        lapses = min(free, each.left - resting)
        if day is not None and day <= end.last_day and lapses > 0:
            lapsing[each.lot.seq] = lapses
            free -= lapses
            days.append(day)
    if not lapsing:
        return None
    points = sum(lapsing.values())
    explanation = LapsedByLots(
        balance=account.balance,
        held=account.held,
        expired_on=min(days),
        points=-points,
        lots=tuple(lapsing.items()),
        pending=account.pending or None,
    )
    change = take(before, points, _entry(end, posted_at, explanation), by_name=lapsing)
    after = change.after.account._replace(lapsed_seq=change.transfer.seq)
    return change._replace(after=change.after._replace(account=after))


def _entry(end: MonthEnd, posted_at: datetime, explanation: Lapsed) -> Entry:
    return Entry(_EXPIRE, end.key, text_of(explanation), end.lapsed_at, posted_at, CLOCK)
