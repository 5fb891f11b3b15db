"""The approvals and the log, beside the movements that took a person's word."""

import json
from collections.abc import Sequence
from typing import Final

from abacus.ledger.types.transfer import Transfer
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, pages
from abacus.platform.sql import Statement, columns, row_of
from abacus.proof.decide.approved import (
    MOVING,
    Agreed,
    Decided,
    InForce,
    Logged,
    approver_of,
    faults_of_approval,
    faults_of_movement,
    faults_of_version,
    took_effect,
)
from abacus.proof.decide.report import HouseFault, Of, Report
from abacus.proof.sight import Sight

_DEEDS: Final = (Deed.ADJUST, Deed.REVERSE, Deed.MOVE_POINTS)

# The numbers of the movements, in the order in which they are given, that the log has, with what it says of them.
_LOGGED: Final = Statement("""
select u.place, l.details
from unnest(:members::text[], :keys::text[]) with ordinality as u (member_id, key, place)
join audit_log l on l.subject = 'member:' || u.member_id and l.deed = any(:deeds::text[])
    and l.details ->> 'key' = u.key
""")
_OF_KEYS: Final = Statement(f"""
select {columns(Approval)} from approval where kind = any(:kinds::text[]) and subject = any(:keys::text[])
""")

# An erasure takes names out of the content and makes the digest anew; the log keeps the approved digest.
_DECIDED: Final = f"""
select {columns(Approval, "a")}, a.before_people,
    exists (select from person p where 'person:' || p.person_id = a.decided_by) as is_person,
    exists (
        select from audit_log l
        where l.subject = 'approval:' || a.approval_id and l.deed = '{Deed.APPROVE}' and l.actor = a.decided_by
            and l.authenticated and l.details ->> 'did' = 'approve'
            and (l.details ->> 'digest' = a.digest or a.summary = 'erased')
    ) as is_logged
from approval a order by a.approval_id
"""

_CLAIMED: Final = Statement("select key from claim where key = any(:keys::text[])")

# The versions by which something came of events, or was taken, or that members were on, in a slice; redemptions of
# rewards and exchanges are not cut.
_AT_WORK: Final = {
    Of.CAMPAIGN: "select distinct campaign as name, version from campaign_sum",
    Of.OFFER: "select distinct offer as name, version from offer_sum",
    Of.JOURNEY: "select distinct journey as name, version from journey_sum",
}
_AT_WORK_SHARED: Final = {
    Of.REWARD: "select distinct reward as name, version from reward_redemption",
    Of.PROGRAMME: "select distinct programme as name, version from exchange",
}

# A version was in force when somebody approved it, or when something came of it. The tables of documents whose versions
# have states are called as their kinds of approvals; and most also as verifying calls the documents.
_TABLES: Final = {Of.PROGRAMME: "exchange_programme"}
_IN_FORCE: Final = {
    of: Statement(f"""
    select d.name, d.version, d.document::text as document, d.approved_by,
        (select json_agg(json_build_array(a.decided_by, a.document)) from approval a
            where a.kind = '{table}' and a.subject = d.name and a.status in ('approved', 'done'))::text as agreed
    from {table} d
    where d.approved_by is not null
        or exists (
            select from unnest(:names::text[], :versions::integer[]) as u (name, version)
            where u.name = d.name and u.version = d.version
        )
    order by d.name, d.version
    """)
    for of in (Of.CAMPAIGN, Of.OFFER, Of.REWARD, Of.JOURNEY, Of.PROGRAMME)
    for table in (_TABLES.get(of, of),)
}


async def check_movements(connection: Connection, transfers: Sequence[Transfer], report: Report) -> None:
    """Note the faults of movements that take a word: with each, the log and the approvals of its key are looked at."""
    if not transfers:
        return
    logged = await _logged(connection, transfers)
    keys = [transfer.key for transfer in transfers if approver_of(transfer) is not None]
    rows = await connection.fetch(*_OF_KEYS(kinds=MOVING, keys=keys)) if keys else []
    effective = {each.subject: each for each in (Approval(*row) for row in rows) if took_effect(each)}
    for place, transfer in enumerate(transfers, 1):
        faults = faults_of_movement(transfer, logged.get(place), effective)
        report.faults_of((transfer.member_id, transfer.program), transfer.seq, faults)


async def check_approvals(sight: Sight) -> Report:
    """The faults of all approvals, and of documents that lack one. In a transaction."""
    connection, report = sight.shared, Report()
    async for page in pages(connection, _DECIDED):
        posted = await _posted(sight, [row["subject"] for row in page])
        for row in page:
            facts = (row["before_people"], row["is_person"], row["is_logged"], row["subject"] in posted)
            decided = Decided(row_of(Approval, row), *facts)
            whose = str(decided.approval.approval_id)
            report.note(*(HouseFault(Of.APPROVAL, whose, fault) for fault in faults_of_approval(decided)))
    for of, statement in _IN_FORCE.items():
        at_work = await _at_work(sight, of)
        names, versions = [name for name, _ in at_work], [version for _, version in at_work]
        async for page in pages(connection, *statement(names=names, versions=versions)):
            for row in page:
                version = row_of(InForce, row)
                agreed = [Agreed(*each) for each in json.loads(row["agreed"] or "[]")]
                label = f"{version.name}@{version.version}"
                report.note(*(HouseFault(of, label, fault) for fault in faults_of_version(of, version, agreed)))
    return report


async def _posted(sight: Sight, keys: Sequence[str]) -> set[str]:
    """The keys among these under which something was posted."""
    posted: set[str] = set()
    for number in sight.numbers:
        ledger = await sight.ledger(number)
        posted |= {row["key"] for row in await ledger.fetch(*_CLAIMED(keys=keys))}
    return posted


async def _at_work(sight: Sight, of: Of) -> set[tuple[str, int]]:
    """The names and versions of the kind by which something came about."""
    if of in _AT_WORK_SHARED:
        return {(row["name"], row["version"]) for row in await sight.shared.fetch(_AT_WORK_SHARED[of])}
    found: set[tuple[str, int]] = set()
    for number in sight.numbers:
        ledger = await sight.ledger(number)
        found |= {(row["name"], row["version"]) for row in await ledger.fetch(_AT_WORK[of])}
    return found


async def _logged(connection: Connection, transfers: Sequence[Transfer]) -> dict[int, Logged]:
    rows = await connection.fetch(
        *_LOGGED(
            members=[transfer.member_id for transfer in transfers],
            keys=[transfer.key for transfer in transfers],
            deeds=_DEEDS,
        )
    )
    return {row["place"]: Logged.of(json.loads(row["details"])) for row in rows}
