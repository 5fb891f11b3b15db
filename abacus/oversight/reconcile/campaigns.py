"""What campaigns have decided, held against what was done and against the ledger. Postgres counts it, by campaign."""

from datetime import datetime
from typing import Final

from abacus.oversight.reconcile.asked import Outcomes, outcomes
from abacus.oversight.reconcile.decide.lines import Actions, Totals
from abacus.oversight.reconcile.decide.verdict import Queues
from abacus.oversight.reconcile.messages import LONG_S, AsOf
from abacus.platform.postgres import Connection
from abacus.platform.quarantine.store import HELD
from abacus.platform.sql import Statement

_ACTIONS: Final = Statement("""
select campaign, kind, count(*) as decided, count(done_at) as delivered,
    count(*) filter (where done_at is null and refused_at is null) as waiting, count(refused_at) as refused
from campaign_action where decided_at >= :start and decided_at < :end
group by campaign, kind order by campaign, kind
""")

_AWARDS: Final = Statement(f"""
select s.by, s.member_id, s.key, s.fingerprint, s.decided, true as queued, s.key = any(:doubled::text[]) as doubled,
    exists (select from rejection r where r.key = s.key and r.fingerprint = s.fingerprint) as rejected,
    (select q.reason from quarantine q
        where q.key = s.key and q.fingerprint = s.fingerprint and q.status = '{HELD}' limit 1) as held,
    s.done_at < :settled_before::timestamptz as settled, s.done_at < :overdue_before::timestamptz as overdue
from (
    select campaign as by, member_id, key, document ->> 'fingerprint' as fingerprint,
        (document ->> 'points')::bigint as decided, done_at
    from campaign_action
    where kind = 'award' and done_at is not null and decided_at >= :start and decided_at < :end
) as s
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

    async def awards(self, as_of: AsOf, queues: Queues) -> Outcomes:
        """The outcomes of awards that were sent."""
        return await outcomes(self._connection, _AWARDS(**self._window, **as_of.of_asks), queues)

    async def totals(self) -> list[Totals]:
        return [Totals(*row) for row in await self._connection.fetch(_TOTALS, timeout=LONG_S)]
