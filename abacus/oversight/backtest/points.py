"""The points that members could spend in the past: what they had at a moment, and how that moved from then on."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from abacus.engage.offers.decide.past import Window
from abacus.engage.rewards.decide.saver import Move, Saver
from abacus.ledger.store.pending_sql import pending
from abacus.oversight.backtest.pages import in_order
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement
from abacus.pricing.explanation.sql import factor
from abacus.programs.tiers.store import TIER

# Pending points are not spendable before they vest. The tier is that of now, until an award of the time says another.
_HAD: Final = Statement(f"""
select u.member_id, {TIER} as tier, t.balance_after - coalesce((
    select sum({pending("p")}) from transfer p
    where p.member_id = u.member_id and p.program = u.program and p.seq <= t.seq and p.vests_at > :begin
), 0)::bigint as free
from account u
cross join lateral (
    select b.seq, b.balance_after from transfer b
    where b.member_id = u.member_id and b.program = u.program and b.posted_at < :begin
    order by b.seq desc limit 1
) t
where u.country = :country and u.program = :program and t.balance_after <> 0
order by u.member_id
""")

# What vests comes when it vests, without what was taken back before.
_MOVES: Final = Statement(f"""
select m.at, m.member_id, m.points, coalesce(m.tier, '') as tier from (
    select t.posted_at as at, t.member_id, t.seq,
        t.points - case when t.vests_at > t.posted_at then {pending("t")} else 0 end as points,
        case when t.kind = 'earn' then {factor("tier")} end as tier
    from transfer t join account u on u.member_id = t.member_id and u.program = t.program
    where u.country = :country and t.program = :program and t.posted_at >= :begin and t.posted_at < :end
    union all
    select t.vests_at, t.member_id, min(t.seq), sum({pending("t")})::bigint, null
    from transfer t join account u on u.member_id = t.member_id and u.program = t.program
    where u.country = :country and t.program = :program and t.vests_at > t.posted_at
        and t.vests_at > :begin and t.vests_at < :end
    group by t.vests_at, t.member_id
) m
where m.points <> 0
order by m.at, m.member_id, m.seq
""")


async def had(connection: Connection, country: str, program: str, window: Window) -> AsyncIterator[Sequence[Saver]]:
    """Members with the points that they could spend when the window begins, a page at a time, in a snapshot."""
    statement = _HAD(country=country, program=program, begin=window.begin)
    cursors: Sequence[Any] = await slices.each(connection, lambda: connection.cursor(*statement))
    async for page in in_order(cursors, "member_id"):
        yield [Saver(row["member_id"], row["tier"], row["free"], row["free"]) for row in page]


async def moves(connection: Connection, country: str, program: str, window: Window) -> AsyncIterator[Sequence[Move]]:
    """In the order of their time, a page at a time, in a snapshot. Each slice sorts its own, on disk where there are
    many.
    """
    statement = _MOVES(country=country, program=program, **window._asdict())
    cursors: Sequence[Any] = await slices.each(connection, lambda: connection.cursor(*statement))
    async for page in in_order(cursors, "at"):
        yield [Move(*row) for row in page]
