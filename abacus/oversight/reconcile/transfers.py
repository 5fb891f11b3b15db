"""The transfers of a window: the origin of each, whether its claim is its own, and partners' requests."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from abacus.core.sources import CAMPAIGN_PREFIX, STREAM, is_partner_sql, source_sql
from abacus.ledger.types.award import Kind
from abacus.oversight.reconcile.decide.account import MOST_FINDINGS, Finding, Origin, What
from abacus.oversight.reconcile.decide.lines import AskGroup, Posted
from abacus.oversight.reconcile.decide.verdict import FAULTS, OTHER, SAME, Ask, Queues, verdict_of_ask
from abacus.oversight.reconcile.messages import LONG_S, AsOf
from abacus.platform.postgres import Connection
from abacus.platform.quarantine.store import HELD
from abacus.platform.sql import Statement, columns, row_of
from abacus.proof.examine import CLAIMED_AS

_WINDOW: Final = "t.posted_at >= :start and t.posted_at < :end"
_OF_MESSAGES: Final = f"({source_sql('t')} = '{STREAM}')"
_OF_PARTNERS: Final = f"(t.kind = '{Kind.EARN}' and {is_partner_sql('t')})"
_OF_CAMPAIGNS: Final = f"(t.kind = '{Kind.EARN}' and starts_with({source_sql('t')}, '{CAMPAIGN_PREFIX}'))"

# A campaign's award goes back to its action; where actions are not kept, to the claim of its event.
_DECIDED: Final = """(
    exists (select from campaign_action a where a.member_id = t.member_id and a.key = t.key and a.kind = 'award')
    or exists (select from campaign_claim d where d.key = regexp_replace(t.key, ':[0-9]+$', '')))"""

_ORIGINS: Final = f"""
select t.kind, t.key, t.member_id, t.program, t.seq, t.points,
    case
        when m.key is not null then '{Origin.WINDOW}'
        when e.key is not null then '{Origin.ELSEWHERE}'
        when p.key is not null then '{Origin.PARTNERS}'
        when {_OF_CAMPAIGNS} and {_DECIDED} then '{Origin.CAMPAIGNS}'
        when {_OF_MESSAGES} or {_OF_PARTNERS} or {_OF_CAMPAIGNS} then '{Origin.NOWHERE}'
        else '{Origin.ITSELF}'
    end as origin
from transfer t
left join (
    select distinct key from reconcile_message where posted is distinct from '{OTHER}' and not posted_before
) m on m.key = t.key
left join (select distinct key from reconcile_elsewhere) e on e.key = t.key
left join partner_award p on p.key = t.key and {_OF_PARTNERS}
where {_WINDOW}
"""
_POSTED: Final = Statement(f"""
select kind, origin, count(*) as transfers, coalesce(sum(points), 0)::bigint as points
from ({_ORIGINS}) as o group by kind, origin order by kind, origin
""")
_NOWHERE: Final = Statement(f"""
select key, member_id, program, seq from ({_ORIGINS}) as o where origin = '{Origin.NOWHERE}' limit {MOST_FINDINGS}
""")

_NOT_ITS_CLAIM: Final = Statement(f"""
select t.key, t.member_id, t.program, t.seq, c.seq as claimed from transfer t left join claim c on c.key = {CLAIMED_AS}
where {_WINDOW} and (c.member_id, c.program, c.seq) is distinct from (t.member_id, t.program, t.seq)
""")

_ASKS: Final = f"""
select p.partner_id, p.key, p.queued_at is not null as queued,
    case when t.seq is null then null when c.fingerprint = p.fingerprint then '{SAME}' else '{OTHER}' end as posted,
    p.key = any(:doubled::text[]) as doubled, r.key is not null as rejected,
    (select q.reason from quarantine q
        where q.key = p.key and q.fingerprint = p.fingerprint and q.status = '{HELD}' limit 1) as held,
    p.asked_at < :settled_before::timestamptz as settled,
    p.asked_at < :overdue_before::timestamptz as overdue, t.points
from partner_award p
left join claim c on c.key = p.key
left join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
left join rejection r on r.key = p.key and r.fingerprint = p.fingerprint
where p.asked_at >= :start and p.asked_at < :end
"""
_ASK_GROUPS: Final = Statement(f"""
select partner_id, {columns(Ask)}, count(*) as awards, coalesce(sum(points), 0)::bigint as points
from ({_ASKS}) as a group by partner_id, {columns(Ask)}
""")
_ASKS_ONE_BY_ONE: Final = Statement(f"""
select key, partner_id, {columns(Ask)} from ({_ASKS}) as a
where posted is distinct from '{SAME}' and not rejected and held is null and queued or doubled
order by key
""")


class Transfers:
    """Queries about one window. All but `posted` run within the transaction whose snapshot the account is of."""

    def __init__(self, connection: Connection, start: datetime, end: datetime) -> None:
        self._connection = connection
        self._window = {"start": start, "end": end}

    async def posted(self) -> list[Posted]:
        rows = await self._connection.fetch(*_POSTED(**self._window), timeout=LONG_S)
        return [Posted(*row) for row in rows]

    async def without_a_source(self) -> list[Finding]:
        rows = await self._connection.fetch(*_NOWHERE(**self._window), timeout=LONG_S)
        return [Finding(What.WITHOUT_SOURCE, row["key"], _place(row)) for row in rows]

    async def not_their_claims(self) -> list[Finding]:
        """Transfers under keys that are claimed for another transfer, so the key was posted twice, or for none."""
        rows = await self._connection.fetch(*_NOT_ITS_CLAIM(**self._window), timeout=LONG_S)
        return [
            Finding(What.UNCLAIMED if row["claimed"] is None else What.DOUBLED, row["key"], _place(row)) for row in rows
        ]

    async def asks(self, as_of: AsOf) -> list[AskGroup]:
        rows = await self._connection.fetch(*_ASK_GROUPS(**self._window, **as_of.of_asks), timeout=LONG_S)
        return [AskGroup(row["partner_id"], row_of(Ask, row), row["awards"], row["points"]) for row in rows]

    async def asks_at_fault(self, as_of: AsOf, queues: Queues) -> list[Finding]:
        findings: list[Finding] = []
        statement = _ASKS_ONE_BY_ONE(**self._window, **as_of.of_asks)
        async for row in self._connection.cursor(*statement, timeout=LONG_S):
            verdict = verdict_of_ask(row_of(Ask, row), queues)
            if verdict in FAULTS:
                findings.append(Finding(What(verdict), row["key"], f"asked for by {row['partner_id']}"))
        return findings


def _place(row: Mapping[str, object]) -> str:
    return f"{row['member_id']} {row['program']} #{row['seq']}"
