"""The points of accounts that lapse, and their days, as SQL: what a month's end takes if nothing happens before it.

The expiry preview, the ageing report and the warnings to members share it. `ledger/decide/lapsing.py` is the same rule
as the expirer follows it; a property test holds the two together.
"""

from datetime import date
from typing import Final, NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.programs.expiry.decide.month import Month


def lapsing(account: str) -> str:
    """SQL for a table of `lapses_on`, `points`, and how many of them are still `pending`, for a row of `account` with
    points that are not held. What is pending now has vested by the day on which it may lapse.

    By activity all these points lapse with the account's day. By lots each lot has its day; spent points are gone from
    the oldest lots, and held points rest on the oldest of what remains, as the spend that may follow would take them.
    """
    return f"""(
    select {account}.expires_on as lapses_on, {account}.balance - {account}.held as points,
        least(greatest({account}.balance - {account}.held, 0), {_pending(account)})::bigint as pending
    where not {account}.lifetime
    union all
    select good_until, remaining, case when vests_at > now() then remaining else 0 end
    from (
        select good_until, vests_at,
            least(capacity, greatest(0, upto - {account}.lots_drawn - {account}.held))::bigint as remaining
        from (
            select t.expires_on as good_until, t.vests_at, t.points - d.drawn as capacity,
                sum(t.points - d.drawn) over (order by t.seq) as upto
            from transfer t cross join lateral (
                select coalesce(sum(d.points), 0) as drawn from draw d
                where d.member_id = t.member_id and d.program = t.program and d.lot_seq = t.seq
            ) d
            where {account}.lifetime and t.member_id = {account}.member_id and t.program = {account}.program
                and t.seq > {account}.lots_closed and t.points > 0
        ) lot
    ) remaining
)"""


def _pending(account: str) -> str:
    """The pending points of an account, whose `vesting` has pairs of a second and the points that vest then."""
    vesting = f"{account}.vesting"
    return f"""case when {vesting} is null then 0 else (
        select coalesce(sum({vesting}[i + 1]), 0) from generate_series(1, cardinality({vesting}), 2) as i
        where {vesting}[i] > extract(epoch from now())
    ) end"""


class Expected(NamedTuple):
    """Members who will lose points at a month's end, as things stand. `pending` of the points have not vested yet."""

    country: str
    program: str
    members: int
    points: int
    pending: int


_PREVIEW: Final = Statement(f"""
select {columns(Expected)} from (
    select a.country, a.program, count(distinct a.member_id)::bigint as members, sum(l.points)::bigint as points,
        sum(l.pending)::bigint as pending
    from account a cross join lateral {lapsing("a")} l
    where a.country = :country and a.expires_on <= :last_day and a.balance > a.held
        and l.lapses_on between :first_day and :last_day and l.points > 0
    group by a.country, a.program
) expected
""")


async def preview(pool: Pool, country: str, month: Month, *, with_earlier: bool) -> list[Expected]:
    """`with_earlier` also counts points that lapsed before and are still there: they go with this month's end. Raises
    `Unavailable`.
    """
    first = date.min if with_earlier else month.first_day
    statement = _PREVIEW(country=country, first_day=first, last_day=month.last_day)
    async with passing_failures(), pool.acquire() as connection:
        return [Expected(*row) for row in await slices.sums(connection, statement, facts=2)]
