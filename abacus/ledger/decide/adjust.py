"""Points that a person adds or takes. Pure."""

from datetime import datetime

from abacus.ledger.decide.account_with_lots import AccountWithLots, Change, Entry, put, take
from abacus.ledger.decide.spend import check_available
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Adjustment
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Adjusted


def adjust(before: AccountWithLots, adjustment: Adjustment, now: datetime) -> Change:
    """Raises `Declined` when the adjustment takes more points than are available."""
    explanation = Adjusted(
        points=adjustment.points,
        reason=adjustment.reason,
        by=adjustment.actor,
        on_behalf_of=adjustment.on_behalf_of,
        approved_by=adjustment.approved_by,
    )
    entry = Entry(
        TransferKind.ADJUST, adjustment.key, text_of(explanation), now, now, adjustment.source, actor=adjustment.actor
    )
    if adjustment.points >= 0:
        return put(before, adjustment.points, adjustment.expires_on, entry, lifetime=adjustment.lifetime)
    check_available(before.account, -adjustment.points)
    return take(before, -adjustment.points, entry)
