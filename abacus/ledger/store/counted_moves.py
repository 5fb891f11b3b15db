"""Movements that are counted in the metrics."""

from collections import Counter
from collections.abc import Sequence

from abacus.ledger.metrics import MOVEMENTS
from abacus.ledger.types.movement import Moved, Movement, MovesPort


class CountedMoves:
    """`MovesPort`: another one, and what comes of its movements."""

    def __init__(self, moves: MovesPort) -> None:
        self._moves = moves

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        fates = await self._moves.move(movements)
        counts = Counter((type(each.movement).__name__.lower(), each.status) for each in fates)
        for (kind, status), count in counts.items():
            MOVEMENTS.labels(kind, status).inc(count)
        return fates
