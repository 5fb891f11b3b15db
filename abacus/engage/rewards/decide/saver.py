"""A member of the past who saves points: what it had, and what it would have left, had it taken pieces of a reward that
is tried. Pure.
"""

from datetime import datetime
from typing import NamedTuple

from abacus.pricing.decide.card import BASE_TIER


class Move(NamedTuple):
    """Points that a member could spend from then on, or no longer. The tier is that of an award, or empty."""

    at: datetime
    member_id: str
    points: int
    tier: str


class Saver(NamedTuple):
    """A member. `free` are the points that it could spend, `left` those without what it would have paid for `pieces`,
    of which it took `that_day` on the last `day`. It `could` afford one; it had the points for a reward that is for
    `others`; it `takes` what it can, and `waits` for more since that day. Days are texts, empty for none.
    """

    member_id: str
    tier: str = BASE_TIER
    free: int = 0
    left: int = 0
    pieces: int = 0
    day: str = ""
    that_day: int = 0
    could: bool = False
    others: bool = False
    takes: bool = False
    waits: str = ""


def moved(saver: Saver, move: Move) -> Saver:
    """A piece comes before what the member really did with its points later: of that only so much is taken as is left,
    or as the member really owed.
    """
    free, left = saver.free + move.points, saver.left + move.points
    if move.points < 0:
        left = max(left, min(free, 0))
    return saver._replace(free=free, left=left, tier=move.tier or saver.tier)
