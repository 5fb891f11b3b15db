"""Cards, people, partners and tiers that were set, beside what the log has of them; and what was set aside, counted."""

from typing import Final

from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection
from abacus.platform.slices import WHOLE
from abacus.proof.decide.report import Fault, HouseFault, Of, Report
from abacus.proof.decide.stated import faults_of_state

_STATED: Final = """
with thing (name) as (
    select 'card:' || scope from rate_card union select 'card:' || scope from rate_card_withdrawal
    union select 'partner:' || partner_id from partner union select 'partner:' || partner_id from partner_key
    union select 'person:' || person_id from person union select 'person:' || person_id from person_token
    union select 'person:' || person_id from console_password
), last as (
    select distinct on (stated) stated as name, state from audit_log
    where stated is not null and state is not null order by stated, at desc, number desc nulls first
)
select name, l.state::text as recorded, abacus_state_of(name)::text as now
from thing t full join last l using (name) order by name
"""


_SET_TIERS: Final = f"""
with last as (
    select distinct on (subject, details ->> 'program') subject, details ->> 'program' as program,
        case when details ->> 'did' <> 'clear' then details ->> 'tier' end as tier
    from audit_log where deed = '{Deed.SET_TIERS}' order by subject, details ->> 'program', at desc
)
select coalesce('member:' || m.member_id, l.subject) as subject, coalesce(m.program, l.program) as program,
    m.tier as tier, l.tier as logged
from {WHOLE}.membership m full join last l on l.subject = 'member:' || m.member_id and l.program = m.program
where m.tier is distinct from l.tier order by 1, 2
"""
_SET_ASIDE: Final = """
select (select count(*) from quarantine) as there,
    (select coalesce(sum(items), 0)::bigint from quarantine_tally) as tallied
"""


async def check_stated(connection: Connection) -> Report:
    report = Report()
    for name, recorded, now in await connection.fetch(_STATED):
        report.note(*(HouseFault(Of.STATED, name, fault) for fault in faults_of_state(recorded, now)))
    for subject, program, tier, logged in await connection.fetch(_SET_TIERS):
        what = f"the tier that is set for it is {tier or 'none'}, the log has {logged or 'none'}"
        report.note(Fault(subject.removeprefix("member:"), program, 0, what))
    there, tallied = await connection.fetchrow(_SET_ASIDE)
    if there != tallied:
        report.note(HouseFault(Of.STATED, "quarantine", f"it has {there} items, and {tallied} were set aside"))
    return report
