"""What campaigns have decided, held against what was done and against the ledger. Postgres counts it, by campaign."""

from datetime import datetime
from typing import Final

from abacus.oversight.reconcile.decide.account import MOST_FINDINGS, Finding, What
from abacus.oversight.reconcile.decide.lines import Actions, AskGroup, Totals
from abacus.oversight.reconcile.decide.verdict import FAULTS, OTHER, SAME, Ask, Queues, verdict_of_ask
from abacus.oversight.reconcile.messages import LONG_S, AsOf
from abacus.platform.postgres import Connection
from abacus.platform.quarantine.store import HELD
from abacus.platform.sql import Statement, columns, row_of

_ACTIONS: Final = Statement("""
select campaign, kind, count(*) as decided, count(done_at) as delivered,
    count(*) filter (where done_at is null and refused_at is null) as waiting, count(refused_at) as refused
from campaign_action where decided_at >= :start and decided_at < :end
group by campaign, kind order by campaign, kind
""")

# An award that was sent. Of an erased member's only the points are kept: without its facts, it is the key's.
_SENT: Final = f"""
select a.campaign, a.key, a.member_id, (a.document ->> 'points')::bigint as decided, t.points,
    case when t.seq is null then null when c.fingerprint = coalesce(a.document ->> 'fingerprint', c.fingerprint)
        then '{SAME}' else '{OTHER}' end as posted,
    a.document ->> 'fingerprint' as fingerprint, a.done_at
from campaign_action a
left join claim c on c.key = a.key
left join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
where a.kind = 'award' and a.done_at is not null and a.decided_at >= :start and a.decided_at < :end
    and (t.seq is not null or a.document ->> 'fingerprint' is not null)
"""
_AWARDS: Final = f"""
select s.campaign, s.key, s.member_id, true as queued, s.posted, s.key = any(:doubled::text[]) as doubled,
    exists (select from rejection r where r.key = s.key and r.fingerprint = s.fingerprint) as rejected,
    (select q.reason from quarantine q
        where q.key = s.key and q.fingerprint = s.fingerprint and q.status = '{HELD}' limit 1) as held,
    s.done_at < :settled_before::timestamptz as settled, s.done_at < :overdue_before::timestamptz as overdue, s.points
from ({_SENT}) as s
"""
_AWARD_GROUPS: Final = Statement(f"""
select campaign, {columns(Ask)}, count(*) as awards, coalesce(sum(points), 0)::bigint as points
from ({_AWARDS}) as a group by campaign, {columns(Ask)}
""")
_AWARDS_ONE_BY_ONE: Final = Statement(f"""
select key, campaign, member_id, {columns(Ask)} from ({_AWARDS}) as a
where posted is distinct from '{SAME}' and not rejected and held is null or doubled order by key
""")
# Materialized, because a comparison of points would make the planner believe that hardly any award has a transfer.
_OTHER_POINTS: Final = Statement(f"""
with s as materialized ({_SENT})
select key, campaign, decided, points, count(*) over () as in_all from s
where points <> decided order by key limit {MOST_FINDINGS}
""")

_TOTALS: Final = """
select campaign, sum(claims)::bigint, sum(events)::bigint, sum(points)::bigint, sum(awarded)::bigint from (
    select campaign, count(*) as claims, 0 as events, 0 as points, 0 as awarded from campaign_claim group by campaign
    union all
    select campaign, 0, sum(events), coalesce(sum(points) filter (where outcome = 'done'), 0), 0
    from campaign_sum group by campaign
    union all
    select campaign, 0, 0, 0, sum((document ->> 'points')::bigint)
    from campaign_action where kind = 'award' group by campaign
) as each group by campaign order by campaign
"""


class CampaignEffects:
    """Queries within the transaction whose snapshot the account is of. The sums are of the whole life of each campaign,
    all else is of what was decided in the window.
    """

    def __init__(self, connection: Connection, start: datetime, end: datetime) -> None:
        self._connection = connection
        self._window = {"start": start, "end": end}

    async def actions(self) -> list[Actions]:
        rows = await self._connection.fetch(*_ACTIONS(**self._window), timeout=LONG_S)
        return [Actions(*row) for row in rows]

    async def awards(self, as_of: AsOf) -> list[AskGroup]:
        rows = await self._connection.fetch(*_AWARD_GROUPS(**self._window, **as_of.of_asks), timeout=LONG_S)
        return [AskGroup(row["campaign"], row_of(Ask, row), row["awards"], row["points"]) for row in rows]

    async def awards_at_fault(self, as_of: AsOf, queues: Queues) -> list[Finding]:
        findings: list[Finding] = []
        statement = _AWARDS_ONE_BY_ONE(**self._window, **as_of.of_asks)
        async for row in self._connection.cursor(*statement, timeout=LONG_S):
            verdict = verdict_of_ask(row_of(Ask, row), queues)
            if verdict in FAULTS:
                where = f"awarded to {row['member_id']} by the campaign {row['campaign']}"
                findings.append(Finding(What(verdict), row["key"], where))
        return findings

    async def other_points(self) -> tuple[int, list[Finding]]:
        """How many awards stand in the ledger with other points, and the first of them."""
        rows = await self._connection.fetch(*_OTHER_POINTS(**self._window), timeout=LONG_S)
        findings = [
            Finding(What.OTHER_POINTS, row["key"], f"{row['points']}, {row['campaign']} awarded {row['decided']}")
            for row in rows
        ]
        return rows[0]["in_all"] if rows else 0, findings

    async def totals(self) -> list[Totals]:
        return [Totals(*row) for row in await self._connection.fetch(_TOTALS, timeout=LONG_S)]
