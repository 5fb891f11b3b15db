"""What lapses with the end of a month. Pure."""

from datetime import date, datetime
from typing import Any, NamedTuple

from abacus.core.sources import CLOCK
from abacus.ledger.decide.account_with_lots import Change, Entry, Purse, take
from abacus.ledger.types.account import Account
from abacus.ledger.types.award import Kind


class MonthEnd(NamedTuple):
    """The end of a month in a country: what was good until a day of that month, or of one before it, has lapsed."""

    key: str  # under which an account can lapse once
    last_day: date
    lapsed_at: datetime


def lapse(purse: Purse, end: MonthEnd, posted_at: datetime) -> Change | None:
    """What becomes of the account; nothing where nothing lapses, because the member was active again or has nothing to
    lose.

    What is held stays, and its date with it: it lapses with a later month's end if it is released.
    """
    account = purse.account
    if account.expires_on is None or account.expires_on > end.last_day or account.available <= 0:
        return None
    return _lapse_lots(purse, end, posted_at) if account.lifetime else _lapse_whole(purse, end, posted_at)


def _lapse_whole(purse: Purse, end: MonthEnd, posted_at: datetime) -> Change:
    account = purse.account
    # Where the lots stood, so that it can be told later how much of one of them lapsed.
    lots = {"lots_closed": account.lots_closed, "lots_drawn": account.lots_drawn}
    gone = {"expired_on": account.expires_on, "points": -account.available}
    change = take(purse, account.available, _entry(account, end, posted_at, gone | lots))
    after = change.purse.account._replace(lapsed_seq=change.transfer.seq)
    if not account.held:
        after = after._replace(lots_closed=after.last_seq, lots_drawn=0)
    return change._replace(purse=Purse(after))


def _lapse_lots(purse: Purse, end: MonthEnd, posted_at: datetime) -> Change | None:
    may_go = purse.account.available
    lapsing: dict[int, int] = {}
    days: list[date] = []
    for each in purse.lots:
        day = each.lot.expires_on
        if day is not None and day <= end.last_day and may_go:
            lapsing[each.lot.seq] = min(each.left, may_go)
            may_go -= lapsing[each.lot.seq]
            days.append(day)
    if not lapsing:
        return None
    points = sum(lapsing.values())
    gone = {"expired_on": min(days), "points": -points, "lots": list(lapsing.items())}
    change = take(purse, points, _entry(purse.account, end, posted_at, gone), by_name=lapsing)
    after = change.purse.account._replace(lapsed_seq=change.transfer.seq)
    return change._replace(purse=change.purse._replace(account=after))


def _entry(account: Account, end: MonthEnd, posted_at: datetime, gone: dict[str, Any]) -> Entry:
    explanation = {"balance": account.balance, "held": account.held, **gone}
    return Entry(Kind.EXPIRE, end.key, explanation, end.lapsed_at, posted_at, CLOCK)
