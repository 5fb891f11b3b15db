"""The days on which the points that members hold would lapse under a draft card, beside the days on which they will.

As they stand, points lapse by their account's date, or by their lot's in an account that lapses by lots. Under the
draft it is as if its policy had always held: by lots, each lapses the policy's months after it came; by activity, all
points of an account lapse the policy's months after its last activity, or after the first of its open lots where it was
never active. Points that are held lapse under neither, the oldest being held first.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

from abacus.oversight.backtest.decide.lapses import LapseChange
from abacus.oversight.backtest.pages import in_order
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.pricing.decide.card import Expiry, RateCard
from abacus.pricing.explanation.sql import text

NEVER: Final = "never"

_DAY: Final = """(date_trunc('month', {at} at time zone :zone) + make_interval(months => :months + 1))::date - 1"""

# A gift of a partner is no activity, and nothing else than an award is. A member has one account in the program.
_DUE: Final = f"""
with home as (
    select member_id, held, expires_on, lifetime, lots_closed, lots_drawn
    from account where country = :country and program = :program and balance > held
), named as (
    select d.member_id, d.lot_seq, sum(d.points) as points
    from draw d join home h on h.member_id = d.member_id
    where d.program = :program
    group by d.member_id, d.lot_seq
), capacity as (
    select h.member_id, case when h.lifetime then t.expires_on else h.expires_on end as day,
        t.points - coalesce(n.points, 0) as capacity, {_DAY.format(at="t.occurred_at")} as draft_day,
        sum(t.points - coalesce(n.points, 0)) over (partition by t.member_id order by t.seq)
            - h.lots_drawn - h.held as left_upto
    from home h
    join transfer t on t.member_id = h.member_id and t.program = :program and t.seq > h.lots_closed and t.points > 0
    left join named n on n.member_id = t.member_id and n.lot_seq = t.seq
), lot as (
    select member_id, day, draft_day, sum(least(capacity, left_upto)) as points
    from capacity where capacity > 0 and left_upto > 0
    group by member_id, day, draft_day
), active as (
    select h.member_id, {_DAY.format(at="max(t.occurred_at)")} as day
    from home h join transfer t on t.member_id = h.member_id and t.program = :program
    where not :by_lots and t.kind = 'earn' and {text("granted_by")} is null
        and {text("campaign")} is null
    group by h.member_id
), due as (
    select l.member_id, l.points, coalesce(to_char(l.day, 'YYYY-MM'), '{NEVER}') as lapses,
        to_char(case when :by_lots then l.draft_day
            else coalesce(a.day, min(l.draft_day) over (partition by l.member_id)) end, 'YYYY-MM') as draft_lapses
    from lot l left join active a on a.member_id = l.member_id
)
"""
_SUMS: Final = Statement(f"""
{_DUE}, side as (
    select month, member_id, sum(points) as points, sum(drafted) as drafted from (
        select lapses as month, member_id, points, 0 as drafted from due
        union all
        select draft_lapses, member_id, 0, points from due
    ) both_sides
    group by month, member_id
)
select :country::text as country, :program::text as program, month,
    count(*) filter (where points > 0) as members, sum(points)::bigint as points,
    count(*) filter (where drafted > 0) as draft_members, sum(drafted)::bigint as draft_points
from side group by month
""")


class Moved(NamedTuple):
    """Points of a member that would lapse in another month. `lapses` is `never` where they have no day."""

    member_id: str
    program: str
    country: str
    points: int
    lapses: str
    draft_lapses: str


_MOVED: Final = Statement(f"""
{_DUE}
select member_id, :program::text as program, :country::text as country, sum(points)::bigint as points,
    lapses, draft_lapses
from due where lapses <> draft_lapses
group by member_id, lapses, draft_lapses order by member_id, lapses, draft_lapses
""")


async def lapses(connection: Connection, draft: RateCard) -> list[LapseChange]:
    """By month, in a snapshot."""
    return [LapseChange(*row) for row in await slices.sums(connection, _SUMS(**_values(draft)), facts=3)]


async def moved(connection: Connection, draft: RateCard) -> AsyncIterator[Sequence[Moved]]:
    """The members whose points would lapse in another month, a page at a time, in a snapshot."""
    statement = _MOVED(**_values(draft))
    cursors = await slices.each(connection, lambda: connection.cursor(*statement))
    async for page in in_order(cursors, "member_id"):
        yield [Moved(*row) for row in page]


def _values(draft: RateCard) -> dict[str, Any]:
    return {
        "country": draft.scope,
        "program": draft.program,
        "zone": draft.timezone,
        "months": draft.expiry_months,
        "by_lots": draft.expiry is Expiry.LIFETIME,
    }
