"""How many events of each type were looked at, by hour. No event has a row, so an event read again counts again."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.batch import contradictions
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.evaluator import Candidate
from abacus.platform.key_register import holders_of
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.slices import slice_map_of
from abacus.platform.sql import Statement, arrays, columns, unnested
from abacus.signals.events.types import Event


class _Row(NamedTuple):
    """A row of `campaign_seen`."""

    source: str
    type: str
    country: str
    hour: datetime
    slot: int
    events: int


_ADD: Final = Statement(f"""
insert into campaign_seen as s ({columns(_Row)})
select u.* from {unnested(_Row)} order by u.source, u.type, u.country, u.hour
on conflict (source, type, country, hour, slot) do update set events = s.events + excluded.events
""")
_BY_DAY: Final = Statement("""
select (hour at time zone :zone)::date as day, sum(events)::bigint
from campaign_seen s join unnest(:sources::text[], :types::text[]) as u (source, type) using (source, type)
where s.country in ('', :country) and s.hour >= date_trunc('hour', :since::timestamptz) and s.hour < :until
group by 1 order by 1
""")


class SeenStore:
    """Adds to rows of this process alone."""

    def __init__(self, pool: Pool, slot: int) -> None:
        self._pool = pool
        self._slot = slot

    async def add(self, events: Iterable[Event]) -> None:
        """Raises `Unavailable`."""
        counts = Counter((each.source, each.type, each.country or "", _hour(each.occurred_at)) for each in events)
        rows = [_Row(*place, self._slot, count) for place, count in counts.items()]
        if rows:
            async with passing_failures():
                await self._pool.execute(*_ADD(**arrays(_Row, rows)))


async def seen_by_day(connection: Connection, campaign: Campaign) -> Mapping[date, int]:
    """Events of its types and country since it was approved, by days of its zone, at any hour."""
    sources, types = zip(*campaign.on, strict=True)
    rows = await connection.fetch(
        *_BY_DAY(
            sources=list(sources),
            types=list(types),
            country=campaign.country,
            zone=campaign.zone.key,
            since=max(campaign.starts_at, campaign.approved_at),
            until=campaign.ends_at,
        )
    )
    return {row[0]: row[1] for row in rows}


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


async def without_contradictions(
    pool: Pool, events: Sequence[Event], candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """The candidates whose event is the first with its key among these events, which are in the order in which they
    came. In slices the first event in the slice of a claim goes before, where one was entered. Raises `Unavailable`.
    """
    several = contradictions(events)
    if not several:
        return candidates
    slice_map = await slice_map_of(pool)
    claims = {each.key: each.event.key for each in candidates if each.event.key in several}
    holders = {claims[claim]: number for claim, number in (await holders_of(pool, claims)).items()}
    firsts = {
        key: next((each for each in some if slice_map.slice_of(each.member_id or "") == holders.get(key)), some[0])
        for key, some in several.items()
    }
    return [each for each in candidates if each.event == firsts.get(each.event.key, each.event)]
