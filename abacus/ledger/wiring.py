"""How points are moved one by one, and what the settings say of that."""

from abacus.ledger.store.counted_moves import CountedMoves, CountedMovesBeside
from abacus.ledger.store.large_moves import Mover
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.limits import Alone, Sums
from abacus.ledger.types.movement import Moved, Movement
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.wiring import Wiring


def alone_of(settings: Settings) -> Alone:
    """How many points somebody may move without a second person."""
    sums = Sums(
        actor_day=settings.alone_actor_day,
        actor_month=settings.alone_actor_month,
        member_day=settings.alone_member_day,
        member_month=settings.alone_member_month,
    )
    return Alone(settings.adjustment_limit, settings.reversal_limit, sums)


def moves_of(wiring: Wiring, pool: Pool) -> CountedMovesBeside:
    """Posts movements together, and other rows beside them."""
    return CountedMovesBeside(PostgresMoves(pool, wiring.clock))


def single_moves(wiring: Wiring, pool: Pool) -> Mover:
    """Posts one movement at a time."""
    moves = CountedMoves(PostgresMoves(pool, wiring.clock))

    async def move(movement: Movement) -> Moved:
        (moved,) = await moves.move([movement])
        return moved

    return move
