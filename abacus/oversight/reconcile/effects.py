"""What campaigns and journeys have decided, held against what was done and against the ledger. Postgres counts it in
each slice.
"""

from datetime import datetime
from typing import Final

from abacus.oversight.reconcile.asked import Asked, Outcomes
from abacus.oversight.reconcile.decide.lines import Actions, ComparedCounts, Totals
from abacus.oversight.reconcile.decide.verdict import Queues
from abacus.oversight.reconcile.grants import compared_grants
from abacus.oversight.reconcile.messages import LONG_S, AsOf, long_pages
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.quarantine.store import HELD
from abacus.platform.sql import Statement

_ACTIONS: Final = Statement("""
select owner, kind, count(*) as decided, count(done_at) as delivered,
    count(*) filter (where done_at is null and refused_at is null) as waiting, count(refused_at) as refused
from action where owner_kind = :owner_kind and decided_at >= :start and decided_at < :end group by owner, kind
""")

_AWARDS: Final = Statement("""
select owner, member_id, key, document ->> 'fingerprint' as fingerprint,
    (document ->> 'points')::bigint as points, done_at
from action
where owner_kind = :owner_kind and kind = 'award' and done_at is not null
    and decided_at >= :start and decided_at < :end
""")
_HELD_UP: Final = Statement(f"""
select u.key, u.fingerprint,
    (select q.reason from quarantine q
        where q.key = u.key and q.fingerprint = u.fingerprint and q.status = '{HELD}' limit 1) as held
from unnest(:keys::text[], :fingerprints::text[]) as u (key, fingerprint)
""")

_TOTALS: Final = """
select campaign, sum(claims)::bigint, sum(events)::bigint, sum(points)::bigint, sum(awarded)::bigint from (
    select campaign, count(*) as claims, 0 as events, 0 as points, 0 as awarded from campaign_claim group by campaign
    union all
    select campaign, 0, sum(events), coalesce(sum(points) filter (where outcome = 'done'), 0), 0
    from campaign_sum group by campaign
    union all
    select owner, 0, 0, 0, coalesce(sum((document ->> 'points')::bigint), 0)
    from action where owner_kind = 'campaign' and kind = 'award' group by owner
) as each group by campaign
"""


class Effects:
    """Queries about one kind of owners, within the transaction whose snapshot the account is of: of what was decided in
    the window.
    """

    def __init__(self, connection: Connection, owner_kind: str, start: datetime, end: datetime) -> None:
        self._connection = connection
        self._owner_kind = owner_kind
        self._start = start
        self._end = end

    @property
    def _window(self) -> dict[str, object]:
        return {"owner_kind": self._owner_kind, "start": self._start, "end": self._end}

    async def actions(self) -> list[Actions]:
        rows = await slices.sums(self._connection, _ACTIONS(**self._window), facts=2, within_s=LONG_S)
        return [Actions(*row) for row in rows]

    async def awards(self, as_of: AsOf, queues: Queues) -> Outcomes:
        """The outcomes of awards that were sent."""
        outcomes = Outcomes(queues)
        await slices.each(self._connection, lambda: self._add_sent(outcomes, as_of))
        return outcomes

    async def grants(self) -> list[ComparedCounts]:
        """What was granted, against what came of it."""
        return await compared_grants(self._connection, self._owner_kind, self._start, self._end)

    async def _add_sent(self, outcomes: Outcomes, as_of: AsOf) -> None:
        """Adds a slice's awards, a page at a time; what holds awards up is not cut, and looked up for each page."""
        doubled = set(as_of.doubled)
        async for page in long_pages(self._connection, _AWARDS(**self._window)):
            keys, fingerprints = [row["key"] for row in page], [row["fingerprint"] for row in page]
            rows = await self._connection.fetch(*_HELD_UP(keys=keys, fingerprints=fingerprints))
            asked = [
                Asked(
                    by=sent["owner"],
                    member_id=sent["member_id"],
                    key=sent["key"],
                    fingerprint=sent["fingerprint"],
                    decided=sent["points"],
                    queued=True,
                    doubled=sent["key"] in doubled,
                    rejected=False,
                    held=held_up["held"],
                    settled=sent["done_at"] < as_of.settled_before,
                    overdue=sent["done_at"] < as_of.overdue_before,
                )
                for sent, held_up in zip(page, rows, strict=True)
            ]
            await outcomes.add(self._connection, asked)


async def totals_of_campaigns(connection: Connection) -> list[Totals]:
    """Of the whole life of each campaign."""
    return [Totals(*row) for row in await slices.sums(connection, (_TOTALS,), facts=1, within_s=LONG_S)]
