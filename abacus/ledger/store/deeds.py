"""The log's entries for movements: of everything that somebody of the house moves, and of what partners adjust and take
back. What partners spend and hold is in the transfers, and stream and clock are nobody.
"""

from collections.abc import Iterable

from abacus.core.sources import is_by_hand, partner_of
from abacus.ledger.types.movement import Adjustment, Moved, Movement, Reversal
from abacus.people.store.audit import entry_of, write
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection


def are_noted(movements: Iterable[Movement]) -> bool:
    """Whether the log is to have an entry of any of them."""
    return any(_deed(movement) is not None for movement in movements)


async def note_deeds(connection: Connection, outcomes: Iterable[Moved]) -> None:
    """Write the entries of the movements that are posted in this transaction."""
    entries = [
        entry_of(
            movement.source,
            deed,
            f"member:{movement.member_id}",
            transfer.posted_at,
            country=movement.country,
            kind=transfer.kind,
            points=transfer.points,
            program=transfer.program,
            key=transfer.key,
            approved_by=movement.approved_by if isinstance(movement, Adjustment | Reversal) else None,
            alone=movement.alone if isinstance(movement, Adjustment | Reversal) else None,
        )
        for movement, _, transfer, *_ in outcomes
        if transfer is not None and (deed := _deed(movement)) is not None
    ]
    if entries:
        await write(connection, entries)


def _deed(movement: Movement) -> Deed | None:
    by_hand = is_by_hand(movement.source)
    if isinstance(movement, Adjustment | Reversal) and (by_hand or partner_of(movement.source) is not None):
        return Deed.ADJUST if isinstance(movement, Adjustment) else Deed.REVERSE
    return Deed.MOVE_POINTS if by_hand else None
