"""The transfers of a window: the origin of each, whether its claim is its own, and partners' requests."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.oversight.reconcile.asked import Outcomes, outcomes_of_partners
from abacus.oversight.reconcile.decide.account import MOST_FINDINGS, Finding, NamedFault, Origin
from abacus.oversight.reconcile.decide.lines import Posted
from abacus.oversight.reconcile.decide.verdict import OTHER, Queues
from abacus.oversight.reconcile.ledger import PostedInWindow, place_of
from abacus.oversight.reconcile.messages import LONG_S, AsOf
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.quarantine.store import HELD
from abacus.platform.sql import Statement
from abacus.proof.examine import CLAIMED_AS

_ORIGINS: Final = f"""
select t.kind, t.key, t.member_id, t.program, t.seq, t.points,
    case
        when m.key is not null then '{Origin.WINDOW}'
        when e.key is not null then '{Origin.ELSEWHERE}'
        when p.key is not null then '{Origin.PARTNERS}'
        when t.is_decided then '{Origin.CAMPAIGNS}'
        when t.is_walked then '{Origin.JOURNEYS}'
        when t.is_redeemed then '{Origin.OFFERS}'
        when t.is_delivered then '{Origin.REWARDS}'
        when t.of_messages or t.of_partners or t.of_campaigns or t.of_journeys or t.of_offers or t.of_rewards
            then '{Origin.NOWHERE}'
        else '{Origin.ITSELF}'
    end as origin
from posted t
left join (
    select distinct key from reconcile_message where posted is distinct from '{OTHER}' and not posted_before
) m on m.key = t.key
left join (select distinct key from reconcile_elsewhere) e on e.key = t.key
left join partner_award p on p.key = t.key and t.of_partners
"""
_POSTED: Final = f"""
select kind, origin, count(*) as transfers, coalesce(sum(points), 0)::bigint as points
from ({_ORIGINS}) as o group by kind, origin order by kind, origin
"""
_NOWHERE: Final = f"""
select key, member_id, program, seq from ({_ORIGINS}) as o where origin = '{Origin.NOWHERE}' limit {MOST_FINDINGS}
"""

_NOT_ITS_CLAIM: Final = Statement(f"""
select t.key, t.member_id, t.program, t.seq, {CLAIMED_AS} as claim, c.key is not null as is_claimed
from transfer t left join claim c on c.key = {CLAIMED_AS}
where t.posted_at >= :start and t.posted_at < :end
    and (c.member_id, c.program, c.seq) is distinct from (t.member_id, t.program, t.seq)
""")
_CLAIMED: Final = Statement("select key from claim where key = any(:keys::text[])")

_ASKS: Final = Statement(f"""
select p.partner_id as by, p.member_id, p.key, p.fingerprint, null::bigint as decided,
    p.queued_at is not null as queued, p.key = any(:doubled::text[]) as doubled, false as rejected,
    (select q.reason from quarantine q
        where q.key = p.key and q.fingerprint = p.fingerprint and q.status = '{HELD}' limit 1) as held,
    p.asked_at < :settled_before::timestamptz as settled, p.asked_at < :overdue_before::timestamptz as overdue
from partner_award p
where p.asked_at >= :start and p.asked_at < :end
""")


class Transfers:
    """Queries about one window. All but `posted` run within the transaction whose snapshot the account is of."""

    def __init__(self, connection: Connection, posted: PostedInWindow, start: datetime, end: datetime) -> None:
        self._connection = connection
        self._posted = posted
        self._window = {"start": start, "end": end}

    async def posted(self) -> list[Posted]:
        return [Posted(*row) for row in await self._posted.fetch(_POSTED)]

    async def without_a_source(self) -> list[NamedFault]:
        rows = await self._posted.fetch(_NOWHERE)
        return [NamedFault(Finding.WITHOUT_SOURCE, row["key"], place_of(row)) for row in rows]

    async def not_their_claims(self) -> list[NamedFault]:
        """Transfers under keys that are claimed for another transfer, so the key was posted twice, or for none."""
        rows = await slices.rows_on(self._connection, _NOT_ITS_CLAIM(**self._window), within_s=LONG_S)
        elsewhere = await self._claimed([row["claim"] for row in rows if not row["is_claimed"]])
        return [
            NamedFault(
                Finding.DOUBLED if row["is_claimed"] or row["claim"] in elsewhere else Finding.UNCLAIMED,
                row["key"],
                place_of(row),
            )
            for row in rows
        ]

    async def _claimed(self, keys: Sequence[str]) -> set[str]:
        """The keys that are claimed in some slice: a key may have been posted in two."""
        rows = await slices.rows_on(self._connection, _CLAIMED(keys=keys), within_s=LONG_S) if keys else []
        return {row["key"] for row in rows}

    async def asks(self, as_of: AsOf, queues: Queues) -> Outcomes:
        """The outcomes of partners' requests."""
        return await outcomes_of_partners(self._connection, _ASKS(**self._window, **as_of.of_asks), queues)
