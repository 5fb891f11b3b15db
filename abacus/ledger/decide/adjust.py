"""Points that a person adds or takes. Pure."""

from datetime import datetime
from typing import Any

from abacus.ledger.decide.account_with_lots import Change, Entry, Purse, put, take
from abacus.ledger.decide.spend import check_available
from abacus.ledger.types.award import Kind
from abacus.ledger.types.movement import Adjustment


def adjust(purse: Purse, asked: Adjustment, now: datetime) -> Change:
    """Raises `Declined` when it would take more than is available."""
    explanation: dict[str, Any] = {"points": asked.points, "reason": asked.reason, "by": asked.actor}
    if asked.approved_by is not None:
        explanation["approved_by"] = asked.approved_by
    entry = Entry(Kind.ADJUST, asked.key, explanation, now, now, asked.source, actor=asked.actor)
    if asked.points >= 0:
        return put(purse, asked.points, asked.expires_on, entry, lifetime=asked.lifetime)
    check_available(purse.account, -asked.points)
    return take(purse, -asked.points, entry)
