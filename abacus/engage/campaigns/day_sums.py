"""The sums of campaigns as series: what came of events by day, in all arms or in one, and the points of that."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.run import RunOutcome
from abacus.engage.campaigns.report import DayLine, days_of
from abacus.platform.postgres import Pool, snapshot
from abacus.signals.counters.reading.room_sums import What
from abacus.signals.counters.reading.types import Days

ROOM: Final = "campaign"

POINTS: Final = "points"
_TOLD: Final = frozenset({POINTS, *RunOutcome})


class CampaignDays:
    """All versions of a campaign together, by the clock of the newest: `@campaign:NAME:done`, `@campaign:NAME:done:ARM`
    and so on for each outcome, and for `points`.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._campaigns = CampaignStore(pool)

    async def days(self, name: str, asked: Sequence[What]) -> Mapping[What, Days]:
        history = await self._campaigns.history(name)
        if not history:
            return {}
        async with snapshot(self._pool) as connection:
            lines = await days_of(connection, name)
        zone = history[-1].document.zone
        return {what: Days(zone, counts_of(lines, *what)) for what in asked if what[0] in _TOLD and not what[2:]}


def counts_of(lines: Iterable[DayLine], kind: str, arm: str | None = None) -> Mapping[date, int]:
    counts: Counter[date] = Counter()
    for line in lines:
        if arm in {None, line.variant}:
            if kind == POINTS:
                counts[line.day] += line.points
            elif line.outcome.partition(":")[0] == kind:
                counts[line.day] += line.events
    return counts
