"""The sums of journeys as series: what happened to members by day, at all nodes or at one."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from abacus.documents.stated import last_approved
from abacus.engage.journeys.decide.ways import Outcome
from abacus.engage.journeys.journey_store import JourneyStore
from abacus.engage.journeys.sum_rows import days_of
from abacus.platform.postgres import Pool, snapshot
from abacus.signals.counters.reading.day_counts import by_kind_and_part
from abacus.signals.counters.reading.room_sums import Counts, What

ROOM: Final = "journey"

_TOLD: Final = (Outcome.ENTERED, Outcome.CAME, Outcome.PASSED, Outcome.LEFT, Outcome.CONVERTED)


class JourneyDays:
    """All versions of a journey together, by the clock of the newest approved version: `@journey:NAME:left`,
    `@journey:NAME:left:NODE` and so on for each outcome that is told.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._journeys = JourneyStore(pool)

    async def of(self, name: str) -> "JourneySums | None":
        history = await self._journeys.history(name)
        if not history:
            return None
        nodes = {node: it.number for each in history for node, it in each.document.nodes.items()}
        return JourneySums(self._pool, name, last_approved(history).zone, nodes)


class JourneySums:
    """Of one journey, whose nodes have these numbers."""

    def __init__(self, pool: Pool, name: str, zone: ZoneInfo, nodes: Mapping[str, int]) -> None:
        self.zone: Final = zone
        self._pool = pool
        self._name = name
        self._known: dict[What, tuple[Outcome, int | None]] = {}
        for outcome in _TOLD:
            self._known[outcome.value,] = outcome, None
            self._known |= {(outcome.value, node): (outcome, number) for node, number in nodes.items()}

    def tells(self, what: What) -> bool:
        return what in self._known

    async def counts(self, asked: Sequence[What], since: date, until: date) -> Mapping[What, Counts]:
        known = [self._known[what] for what in asked]
        outcomes, nodes = {outcome for outcome, _ in known}, {node for _, node in known if node is not None}
        async with snapshot(self._pool) as connection:
            rows = await days_of(connection, self._name, outcomes, nodes, (since, until))
        found = await by_kind_and_part(rows)
        return {what: found.get(self._known[what], {}) for what in asked}
