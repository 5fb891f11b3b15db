"""What was taken of offers and of rewards since a moment, and the points that vest later."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from abacus.cli.demo.catalogue import COUPON, FRIENDS
from abacus.engage.offers.decide.reservation import ReservationStatus
from abacus.engage.rewards.decide.redemption import PAID, Stage
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement

_PAID: Final = ", ".join(f"'{each}'" for each in PAID)
_OFFERS: Final = Statement("""
select count(*) filter (where r.status <> :refused) as reserved, count(d.redemption_id) as redeemed,
    count(*) filter (where d.rolled_back_at is not null) as rolled_back, coalesce(sum(d.points), 0)::bigint as points,
    count(d.redemption_id) filter (where r.offer = any(:by_code::text[])) as by_code
from offer_reservation r left join offer_redemption d on d.member_id = r.member_id and d.reservation_key = r.key
where r.reserved_at >= :since
""")
_REWARDS: Final = Statement(f"""
select count(*) filter (where stage in ({_PAID})) as redeemed, count(*) filter (where stage = :returned) as returned,
    count(*) filter (where stage = '{Stage.SENT}' and late_at <= :now) as late,
    coalesce(sum(points) filter (where stage in ({_PAID})), 0)::bigint as points
from reward_redemption where asked_at >= :since
""")
_PENDING: Final = Statement("""
select coalesce(sum(points), 0)::bigint as points from transfer where posted_at >= :since and vests_at > :now
""")


class Taken(NamedTuple):
    """Each has the keys of the demo's document."""

    offers: Mapping[str, int]
    rewards: Mapping[str, int]
    pending_points: int


async def taken_since(pool: Pool, since: datetime, now: datetime) -> Taken:
    told = _OFFERS(since=since, by_code=[COUPON, FRIENDS], refused=ReservationStatus.REFUSED.value)
    of_offers = await slices.rows(pool, told)
    rewards = await pool.fetchrow(*_REWARDS(since=since, now=now, returned=Stage.RETURNED.value))
    pending = await slices.rows(pool, _PENDING(since=since, now=now))
    names = ("reserved", "redeemed", "rolled_back", "by_code", "points")
    offers = {name: sum(row[name] for row in of_offers) for name in names}
    return Taken(offers, dict(rewards), sum(row["points"] for row in pending))
