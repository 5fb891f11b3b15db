"""Points that a person adds or takes. Pure."""

from datetime import datetime

from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, put, take
from abacus.ledger.decide.spend import check_available
from abacus.ledger.types.award import Kind
from abacus.ledger.types.movement import Adjustment
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Adjusted


def adjust(before: AccountWithLots, asked: Adjustment, now: datetime) -> Change:
    """Raises `Declined` when it would take more than is available."""
    explanation = Adjusted(points=asked.points, reason=asked.reason, by=asked.actor, approved_by=asked.approved_by)
    entry = Entry(Kind.ADJUST, asked.key, text_of(explanation), now, now, asked.source, actor=asked.actor)
    if asked.points >= 0:
        return put(before, asked.points, asked.expires_on, entry, lifetime=asked.lifetime)
    check_available(before.account, -asked.points)
    return take(before, -asked.points, entry)
