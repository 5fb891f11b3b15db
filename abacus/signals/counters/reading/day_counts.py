"""The rows that a room has added up, as counts by day: of each kind in one part of a document, and in all parts."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import TypeAlias

from abacus.platform.loop_turn import LoopTurn

Part: TypeAlias = int | str | None  # None is all parts together


async def by_kind_and_part(
    rows: Iterable[tuple[str, Part, date, int]],
) -> Mapping[tuple[str, Part], Mapping[date, int]]:
    """Kind, part, day and count of each row; a row without a part counts in no single one. Others go on meanwhile."""
    found: dict[tuple[str, Part], dict[date, int]] = {}
    turn = LoopTurn()
    for kind, part, day, count in rows:
        for place in dict.fromkeys(((kind, part), (kind, None))):
            counts = found.setdefault(place, {})
            counts[day] = counts.get(day, 0) + count
        await turn.rest()
    return found
