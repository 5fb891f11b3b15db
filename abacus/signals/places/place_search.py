"""The nearest places, looked for in turns: a filter that keeps few may have all places of a radius looked at."""

from abacus.platform.loop_turn import LoopTurn
from abacus.signals.places.decide.place_index import ANY, Keep, Near, PlaceIndex, Sought
from abacus.signals.places.decide.point import Point


async def nearest_in_turns(
    index: PlaceIndex,
    point: Point,
    k: int,
    radius_m: float,
    keep: Keep | None = None,
    *,
    sought: Sought = ANY,
    turn: LoopTurn,
) -> list[Near]:
    """As `PlaceIndex.search`. Where places change meanwhile, it is looked for anew, and in one go."""
    changes = index.changes
    for near in index.search(point, k, radius_m, keep, sought=sought):
        if near is not None:
            return near
        await turn.rest()
        if index.changes != changes:
            break
    anew = index.search(point, k, radius_m, keep, sought=sought)
    return next(near for near in anew if near is not None)
