"""The points at play: each movement once under its key, as the ledger posts them."""

from collections import Counter
from uuid import UUID

from abacus.ledger.types.movement import Capture, Movement, Release, Reserve, Reversal


class PointsAtPlay:
    """What was asked of each hold, and what became of it."""

    def __init__(self) -> None:
        self.asked: dict[UUID, int] = {}
        self.held: Counter[UUID] = Counter()
        self.captured: Counter[UUID] = Counter()
        self.released: Counter[UUID] = Counter()
        self.given_back: Counter[UUID] = Counter()
        self._posted: dict[str, UUID] = {}

    def move(self, movement: Movement) -> bool:
        """Whether it was posted, now or before."""
        if movement.key in self._posted:
            return True
        match movement:
            case Reserve(hold_id=id_, points=points):
                self.asked[id_] = self.held[id_] = points
            case Capture(hold_id=id_) if self.held[id_]:
                self.captured[id_] += self.held.pop(id_)
            case Release(hold_id=id_) if self.held[id_]:
                self.released[id_] += self.held.pop(id_)
            case Reversal(reverses=key) if key in self._posted:
                id_ = self._posted[key]
                self.given_back[id_] += self.captured[id_]
            case _:
                return False
        self._posted[movement.key] = id_
        return True
