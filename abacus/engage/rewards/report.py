"""What came of rewards, read from the rows of redemptions: when their points were paid, and when they came back."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from abacus.engage.offers.decide.offer import Payer
from abacus.engage.offers.decide.report_parts import VersionPlace
from abacus.engage.rewards.decide.redemption import Stage
from abacus.engage.rewards.decide.report import Counted
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.sql import Statement

_NOBODY: Final = Payer("cost_centre", "-")  # of rewards that say nothing of it
_OF_A_REDEMPTION: Final = "r.reward, r.version, r.program, r.country"
_COUNTED: Final = Statement(f"""
with home as (
    select * from unnest(:countries::text[], :zones::text[], :since::timestamptz[], :until::timestamptz[])
        as h (country, zone, since, until)
), happened as (
    select {_OF_A_REDEMPTION}, (r.given_at at time zone h.zone)::date as day, 1 as redeemed, r.quantity as pieces,
        0 as cancelled, 0 as returned, r.points, r.money
    from home h join reward_redemption r on r.country = h.country and r.given_at >= h.since and r.given_at < h.until
    union all
    select {_OF_A_REDEMPTION}, (r.back_at at time zone h.zone)::date, 0, 0,
        (r.stage = '{Stage.CANCELLED}')::integer, (r.stage = '{Stage.RETURNED}')::integer, -r.points, -r.money
    from home h join reward_redemption r on r.country = h.country and r.back_at >= h.since and r.back_at < h.until
)
select reward, version, program, country, day, sum(redeemed), sum(pieces), sum(cancelled), sum(returned),
    sum(points)::bigint, sum(money)
from happened where :reward::text is null or reward = :reward
group by reward, version, program, country, day order by reward, version, program, country, day
""")
_PAYERS: Final = Statement("""
select r.name, r.version, r.document -> 'paid_by' ->> 'cost_centre', r.document -> 'paid_by' ->> 'partner'
from unnest(:names::text[], :versions::integer[]) as u (name, version)
join reward r on r.name = u.name and r.version = u.version
""")


async def counted(
    connection: Connection, zones: Mapping[str, ZoneInfo], since: date, until: date, reward: str | None = None
) -> Sequence[Counted]:
    """What came of all rewards, or of one, on these days, both included, by the clock of each country. Raises
    `Unavailable`.
    """
    asked = _COUNTED(
        countries=list(zones),
        zones=[zone.key for zone in zones.values()],
        since=[_begin(since, zone) for zone in zones.values()],
        until=[_begin(until + timedelta(days=1), zone) for zone in zones.values()],
        reward=reward,
    )
    return [Counted(*row) for row in await connection.fetch(*asked, timeout=LONG_S)]


async def payers_of(connection: Connection, versions: Iterable[VersionPlace]) -> Mapping[VersionPlace, Payer]:
    """Who pays for these versions of rewards. Raises `Unavailable`."""
    places = sorted(set(versions))
    names, numbers = [name for name, _ in places], [version for _, version in places]
    return {
        (name, version): _payer(cost_centre, partner)
        for name, version, cost_centre, partner in await connection.fetch(*_PAYERS(names=names, versions=numbers))
    }


def _payer(cost_centre: str | None, partner: str | None) -> Payer:
    if partner is not None:
        return Payer("partner", partner)
    return Payer("cost_centre", cost_centre) if cost_centre is not None else _NOBODY


def _begin(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
