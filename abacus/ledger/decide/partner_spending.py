"""The points that a partner moves otherwise than by awards, counted against its limits. Pure.

An adjustment or a reversal that adds points counts as an award of them. A reversal of the partner's own award gives its
allowance back as far as the award's own points were still there; spent and lapsed points stay counted.
"""

from collections.abc import Iterable
from datetime import UTC

from abacus.core.sources import partner_of
from abacus.ledger.decide.account_with_lots import Change
from abacus.ledger.decide.allowance import BatchSpending, OverLimit
from abacus.ledger.decide.reversal import Original
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Adjustment, Decline, Declined, Movement, Reversal


def partners_counted(movements: Iterable[Movement]) -> dict[str, list[Movement]]:
    """The movements that may change an allowance, by partner, in the order in which allowances are locked."""
    by_partner: dict[str, list[Movement]] = {}
    for movement in movements:
        partner_id = partner_counted(movement)
        if partner_id is not None:
            by_partner.setdefault(partner_id, []).append(movement)
    return dict(sorted(by_partner.items()))


def partner_counted(movement: Movement) -> str | None:
    """The partner whose allowance the movement may change."""
    return partner_of(movement.source) if isinstance(movement, Adjustment | Reversal) else None


def count(spending: BatchSpending, movement: Movement, original: Original | None, change: Change) -> None:
    """Counts a movement that is decided. Raises `Declined` where it would take its partner past a limit."""
    partner_id = partner_counted(movement)
    if partner_id is None:
        return
    if change.transfer.points > 0:
        try:
            spending.count(partner_id, movement.member_id, change.transfer.points)
        except OverLimit as over:
            raise Declined(Decline(over.reason.value), over.detail) from None
    elif original is not None and _is_its_award(original, partner_id):
        own = sum(draw.points for draw in change.draws if draw.lot_seq == original.transfer.seq)
        spending.give_back(partner_id, movement.member_id, own, original.transfer.posted_at.astimezone(UTC).date())


def _is_its_award(original: Original, partner_id: str) -> bool:
    transfer = original.transfer
    return transfer.kind == TransferKind.EARN and partner_of(transfer.known_source) == partner_id
