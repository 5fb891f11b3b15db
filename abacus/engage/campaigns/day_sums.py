"""The sums of campaigns as series: what came of events by day, in all arms or in one, and the points of that."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from abacus.documents.stated import last_approved
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.run import RunOutcome
from abacus.engage.campaigns.report import DayCount, day_counts
from abacus.platform.postgres import Pool, snapshot
from abacus.signals.counters.reading.day_counts import by_kind_and_part
from abacus.signals.counters.reading.room_sums import Counts, What

ROOM: Final = "campaign"

POINTS: Final = "points"
_TOLD: Final = frozenset({POINTS, *RunOutcome})


class CampaignDays:
    """All versions of a campaign together, by the clock of the newest approved version: `@campaign:NAME:done`,
    `@campaign:NAME:done:ARM` and so on for each outcome, and for `points`.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._campaigns = CampaignStore(pool)

    async def of(self, name: str) -> "CampaignSums | None":
        history = await self._campaigns.history(name)
        return CampaignSums(self._pool, name, last_approved(history).zone) if history else None


class CampaignSums:
    """Of one campaign."""

    def __init__(self, pool: Pool, name: str, zone: ZoneInfo) -> None:
        self.zone: Final = zone
        self._pool = pool
        self._name = name

    def tells(self, what: What) -> bool:
        return what[0] in _TOLD and not what[2:]

    async def counts(self, asked: Sequence[What], since: date, until: date) -> Mapping[What, Counts]:
        arms = {arm for _, *of_arm in asked for arm in of_arm}
        async with snapshot(self._pool) as connection:
            lines = await day_counts(connection, self._name, arms, since, until)
        found = await by_kind_and_part(_rows(lines))
        return {what: found.get((what[0], what[1] if what[1:] else None), {}) for what in asked}


def _rows(lines: Iterable[DayCount]) -> Iterator[tuple[str, str | None, date, int]]:
    for outcome, arm, day, events, points in lines:
        yield outcome, arm, day, events
        yield POINTS, arm, day, points
