"""Lapsing: the points that an account loses with the end of a month. Pure."""

from datetime import date, datetime
from typing import NamedTuple

from abacus.core.sources import CLOCK
from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, take
from abacus.ledger.decide.pending import vested
from abacus.ledger.types.kinds import TransferKind
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Lapsed, LapsedByLots, LapsedWhole


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
    before = before._replace(account=vested(before.account, posted_at))
    account = before.account
    day = account.expires_on
    if day is None or day > end.last_day or account.available <= 0:
        return None
    return _lapse_lots(before, end, posted_at) if account.lifetime else _lapse_whole(before, end, day, posted_at)


def _lapse_whole(before: AccountWithLots, end: MonthEnd, day: date, posted_at: datetime) -> Change:
    account = before.account
    explanation = LapsedWhole(
        balance=account.balance,
        held=account.held,
        expired_on=day,
        points=-account.available,
        lots_closed=account.lots_closed,
        lots_drawn=account.lots_drawn,
        pending=account.pending or None,
    )
    change = take(before, account.available, _entry(end, posted_at, explanation))
    after = change.after.account._replace(lapsed_seq=change.transfer.seq)
    if not account.held and not account.pending:
        after = after._replace(lots_closed=after.last_seq, lots_drawn=0)
    return change._replace(after=AccountWithLots(after))


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
    return Entry(TransferKind.EXPIRE, end.key, text_of(explanation), end.lapsed_at, posted_at, CLOCK)
