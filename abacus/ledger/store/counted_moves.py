"""Movements that are counted in the metrics."""

from collections import Counter
from collections.abc import Sequence

from abacus.ledger.metrics import MOVEMENTS
from abacus.ledger.store.moves import Beside, PostgresMoves
from abacus.ledger.types.movement import Moved, Movement, MovesPort


class CountedMoves:
    """`MovesPort`: another one, and what comes of its movements."""

    def __init__(self, moves: MovesPort) -> None:
        self._moves = moves

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        return _counted(await self._moves.move(movements))


class CountedMovesBeside(CountedMoves):
    """The same, and what comes of movements beside other rows."""

    def __init__(self, moves: PostgresMoves) -> None:
        super().__init__(moves)
        self._beside = moves

    async def move_beside(self, movements: Sequence[Movement], beside: Beside) -> list[Moved]:
        return _counted(await self._beside.move_beside(movements, beside))


def _counted(fates: list[Moved]) -> list[Moved]:
    counts = Counter((type(each.movement).__name__.lower(), each.status) for each in fates)
    for (kind, status), count in counts.items():
        MOVEMENTS.labels(kind, status).inc(count)
    return fates
