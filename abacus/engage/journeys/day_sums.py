"""The sums of journeys as series: what happened to members by day, at all nodes or at one."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from abacus.engage.journeys.decide.report import Sum
from abacus.engage.journeys.decide.ways import Outcome
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.sum_rows import sums_of
from abacus.platform.postgres import Pool, snapshot
from abacus.signals.counters.reading.room_sums import What
from abacus.signals.counters.reading.types import Days

ROOM: Final = "journey"

_TOLD: Final = (Outcome.ENTERED, Outcome.CAME, Outcome.PASSED, Outcome.LEFT, Outcome.CONVERTED)


class JourneyDays:
    """All versions of a journey together, by the clock of the newest: `@journey:NAME:left`, `@journey:NAME:left:NODE`
    and so on for each outcome that is told.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._journeys = JourneyStore(pool)

    async def days(self, name: str, asked: Sequence[What]) -> Mapping[What, Days]:
        history = [each.document for each in await self._journeys.history(name)]
        if not history:
            return {}
        nodes = {node: it.number for each in history for node, it in each.nodes.items()}
        known: dict[What, tuple[Outcome, int | None]] = {}
        for outcome in _TOLD:
            known[outcome.value,] = outcome, None
            known |= {(outcome.value, node): (outcome, number) for node, number in nodes.items()}
        async with snapshot(self._pool) as connection:
            sums = await sums_of(connection, name, None)
        return {what: Days(history[-1].zone, counts_of(sums, *known[what])) for what in asked if what in known}


def counts_of(sums: Iterable[Sum], outcome: Outcome, node: int | None) -> Mapping[date, int]:
    counts: Counter[date] = Counter()
    for each in sums:
        if each.outcome == outcome and node in {None, each.node}:
            counts[each.day] += each.members
    return counts
