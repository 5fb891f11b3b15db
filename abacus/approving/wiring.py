"""How large moves and approvals are put together."""

from abacus.approving.executors import approving
from abacus.ledger.store.large_moves import LargeMoves, Mover
from abacus.ledger.wiring import alone_of
from abacus.people.wiring import terms_of
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.signals.events.wiring import built_in_sources


def large_moves(wiring: Wiring, pool: Pool, move: Mover) -> LargeMoves:
    """The large moves, with the approvals that they and every other kind go through."""
    settings = wiring.settings
    return approving(pool, wiring.clock, move, alone_of(settings), built_in_sources(settings), terms=terms_of(settings))
