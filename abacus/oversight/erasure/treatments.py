"""How an erasure treats the tables that need more than a delete or a new name."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from abacus.core.errors import Reason, Refused
from abacus.exchanges.decide.exchange import UNSETTLED, State
from abacus.exchanges.link_store import Forgetting, forget_links
from abacus.oversight.erasure.decide.bodies import renamed_accounts, without, written
from abacus.oversight.erasure.decide.pseudonym import ERASED, Pseudonym
from abacus.people.decide.agreement import canonical, digest_of
from abacus.people.store.chain import entries_about, forget
from abacus.people.types.approval import Approval, Status
from abacus.platform.postgres import Connection, rows_changed
from abacus.platform.quarantine.types import Item, Stage
from abacus.platform.sql import Statement, columns

# Rows touched, by table.
Rows: TypeAlias = Counter[str]
Treatment: TypeAlias = Callable[[Connection, Pseudonym], Awaitable[Rows]]

_SCAN_TIMEOUT_S: Final = 3600.0  # some of these tables have no index by member; an erasure may read them whole
# What commands of the console printed and wrote of the member is not needed any more.
_DELETE_ERRANDS: Final = Statement("""
with form as (
    select form as text, convert_to(form, 'UTF8') as bytes from unnest(:forms::text[]) form
), named as (
    delete from console_errand e where exists(
        select from form where position(form.text in e.papers || coalesce(e.told, '')) > 0
            or position(form.bytes in coalesce(e.output, '')) > 0
            or exists(select from unnest(e.arguments) each where position(form.text in each) > 0)
            or exists(
                select from console_errand_file f
                where f.errand_id = e.errand_id and position(form.bytes in f.content) > 0
            )
    )
    returning errand_id
), files as (
    delete from console_errand_file f using named where f.errand_id = named.errand_id
)
select count(*) from named
""")


class Quarantined(NamedTuple):
    """A row of the quarantine, with the columns that an erasure needs."""

    id: str
    stage: str
    origin: str
    reason: str
    detail: str
    body: bytes


_PARTNER_AWARDS: Final = Statement("""
select award_id, explanation from partner_award where member_id = :member_id order by award_id for update
""")
_RENAME_PARTNER_AWARD: Final = Statement("""
update partner_award set member_id = :pseudonym, explanation = :explanation where award_id = :award_id
""")
# A code that the member had is not told again, and stays used.
_FORGET_CODES: Final = Statement("""
update reward_code c set secret = null from reward_redemption r
where r.member_id = :member_id and c.redemption_id = r.redemption_id and c.secret is not null
""")
_RENAME_REDEMPTIONS: Final = Statement("""
update reward_redemption set member_id = :pseudonym, detail = null where member_id = :member_id
""")
_EXCHANGES: Final = Statement("""
select exchange_id, state from exchange where member_id = :member_id and ended_at is null
order by exchange_id for update
""")
_DELETE_QUOTES: Final = Statement(f"""
delete from exchange where member_id = :member_id and state = '{State.QUOTED}'
""")
_RENAME_EXCHANGES: Final = Statement(f"""
update exchange set member_id = :pseudonym, fingerprint = '', detail = case when detail is not null then '{ERASED}' end
where member_id = :member_id
""")
_RENAME_TURNS: Final = Statement(f"""
update exchange_turn t set detail = '{ERASED}' from exchange e
where e.member_id = :member_id and t.exchange_id = e.exchange_id and t.detail is not null
""")
_EMPTY_DELIVERED: Final = Statement("""
update webhook_delivery set body = '{}', member_id = :pseudonym
where delivered_at is not null and member_id = :member_id
""")
_DELETE_UNDELIVERED: Final = Statement("""
delete from webhook_delivery where delivered_at is null and member_id = :member_id
""")
_QUARANTINED: Final = Statement(f"""
select {columns(Quarantined)} from quarantine where position(:bytes in body) > 0
    or position(:text in detail) > 0 or position('\\x5c'::bytea in body) > 0
    or position('base64'::bytea in body) > 0 for update
""")
_DELETE_QUARANTINED: Final = Statement("delete from quarantine where id = :id")
_DELETE_ITS_LIKE: Final = Statement("delete from quarantine where id = :new_id and id <> :id")
_REWRITE_QUARANTINED: Final = Statement("""
update quarantine set id = :new_id, body = :body, detail = :detail where id = :id
""")
_MONTH_END_IS_AT: Final = Statement("""
select exists(select from expiry_run where found_member = :member_id and swept_at is null)
""")
_EXPIRY_BATCHES: Final = Statement("""
select country, month, number, body from expiry_batch where position(:text in body) > 0 for update
""")
_REWRITE_EXPIRY_BATCH: Final = Statement("""
update expiry_batch set body = :body where country = :country and month = :month and number = :number
""")
_RENAME_EXPIRY_RUNS: Final = Statement("""
update expiry_run set found_member = :pseudonym where found_member = :member_id
""")
_RENAME_MOVED_ALONE: Final = Statement("""
update moved_alone set whose = 'member:' || :pseudonym::text where whose = 'member:' || :member_id::text
""")
_APPROVALS: Final = Statement(f"""
select {columns(Approval)} from approval where document::json ->> 'member_id' = :member_id for update
""")
_FORGET_APPROVAL: Final = Statement(f"""
update approval set summary = '{ERASED}', document = :document, digest = :digest,
    note = case when note is not null or status = 'pending' then '{ERASED}' end,
    status = case status when 'pending' then 'void' else status end
where approval_id = :approval_id
""")
_DELETE_FAULTS: Final = {
    table: Statement(f"""
    delete from {table} f where exists(select from unnest(:forms::text[]) form where position(form in {says}) > 0)
    """)
    for table, says in {"queue_failure": "f.why", "console_alarm": "array_to_string(f.details, ' ')"}.items()
}
_PACKS_ASIDE: Final = Statement("""
select journey, id, fault from pack_aside where position(:member_id in fault) > 0 order by journey, id for update
""")
_REWRITE_FAULT: Final = Statement("update pack_aside set fault = :fault where journey = :journey and id = :id")
_DELETE_NUMBER: Final = Statement("delete from member_number where member_id = :member_id returning number")
_ERASED_NUMBERS: Final = Statement("insert into member_number_erased select unnest(:numbers::integer[])")


async def partner_awards(connection: Connection, renaming: Pseudonym) -> Rows:
    rows = await connection.fetch(*_PARTNER_AWARDS(member_id=renaming.member_id), timeout=_SCAN_TIMEOUT_S)
    await connection.executemany(
        *_RENAME_PARTNER_AWARD.rows(
            [
                {
                    "award_id": award_id,
                    "pseudonym": renaming.pseudonym,
                    "explanation": renaming.explanation(explanation),
                }
                for award_id, explanation in rows
            ]
        )
    )
    return Rows(partner_award=len(rows))


async def redemptions(connection: Connection, renaming: Pseudonym) -> Rows:
    """The member's codes are forgotten; what was redeemed stays, under the pseudonym."""
    codes = await touch(connection, _FORGET_CODES(member_id=renaming.member_id))
    renamed = await touch(connection, _RENAME_REDEMPTIONS(**renaming._asdict()))
    return Rows(reward_redemption=renamed, reward_code=codes)


async def exchanges(connection: Connection, renaming: Pseudonym) -> Rows:
    """Links are ended, and their numbers deleted; what was exchanged stays, under the pseudonym. Points that are
    between two houses come to rest first.
    """
    member_id, names = renaming.member_id, renaming._asdict()
    for exchange_id, state in await connection.fetch(*_EXCHANGES(member_id=member_id)):
        if state in (*UNSETTLED, State.RESERVED):
            raise Refused(
                f"the exchange {exchange_id} of this member is {state}, and its partner may have its points or ours;"
                " erase the member when it has ended"
            )
    quotes = await touch(connection, _DELETE_QUOTES(member_id=member_id))
    turns = await touch(connection, _RENAME_TURNS(member_id=member_id))
    renamed = await touch(connection, _RENAME_EXCHANGES(**names))
    links, attempts = await forget_links(connection, Forgetting(*renaming[:2], ERASED), within_s=_SCAN_TIMEOUT_S)
    return Rows(exchange=quotes + renamed, exchange_turn=turns, exchange_link=links, exchange_link_attempt=attempts)


async def webhook_deliveries(connection: Connection, renaming: Pseudonym) -> Rows:
    """Delete deliveries. A sent delivery leaves its id behind, so that an event that is read again is not told
    again.
    """
    emptied = await touch(connection, _EMPTY_DELIVERED(member_id=renaming.member_id, pseudonym=renaming.pseudonym))
    deleted = await touch(connection, _DELETE_UNDELIVERED(member_id=renaming.member_id))
    return Rows(webhook_delivery=emptied + deleted)


async def quarantine(connection: Connection, renaming: Pseudonym) -> Rows:
    """Delete items about the member. An envelope keeps the parts about others, under the id that these have."""
    name = renaming.member_id
    rows = await connection.fetch(*_QUARANTINED(bytes=name.encode(), text=name), timeout=_SCAN_TIMEOUT_S)
    return Rows(quarantine=sum([await _treat(connection, renaming, Quarantined(*row)) for row in rows]))


async def _treat(connection: Connection, renaming: Pseudonym, item: Quarantined) -> bool:
    """Whether the item was changed, or is gone."""
    body, detail = without(item.body, renaming.member_id), renaming.text(item.detail)
    if body is None:
        await connection.execute(*_DELETE_QUARANTINED(id=item.id))
        return True
    if (body, detail) == (item.body, item.detail):
        return False
    new_id = Item(Stage(item.stage), item.origin, Reason(item.reason), detail, body).id
    await connection.execute(*_DELETE_ITS_LIKE(id=item.id, new_id=new_id))
    await connection.execute(*_REWRITE_QUARANTINED(id=item.id, new_id=new_id, body=body, detail=detail))
    return True


async def expiry(connection: Connection, renaming: Pseudonym) -> Rows:
    """Rename the member in envelopes that are kept until they are done, and in the places that sweeps have reached."""
    if await connection.fetchval(*_MONTH_END_IS_AT(member_id=renaming.member_id)):
        raise Refused("a month's end is under way and has come to this member; let `abacus expiry run` end first")
    as_written = orjson.dumps(renaming.member_id)[1:-1].decode()
    batches = [dict(row) for row in await connection.fetch(*_EXPIRY_BATCHES(text=as_written))]
    rewritten = [{**each, "body": renamed_accounts(each["body"], *renaming)} for each in batches]
    changed = [after for before, after in zip(batches, rewritten, strict=True) if after != before]
    await connection.executemany(*_REWRITE_EXPIRY_BATCH.rows(changed))
    runs = await touch(connection, _RENAME_EXPIRY_RUNS(**renaming._asdict()))
    return Rows(expiry_batch=len(changed), expiry_run=runs)


async def packs_aside(connection: Connection, renaming: Pseudonym) -> Rows:
    """They have members by numbers; a fault may name one."""
    rows = [dict(row) for row in await connection.fetch(*_PACKS_ASIDE(member_id=renaming.member_id))]
    rewritten = [{**row, "fault": after} for row in rows if (after := renaming.text(row["fault"])) != row["fault"]]
    await connection.executemany(*_REWRITE_FAULT.rows(rewritten))
    return Rows(pack_aside=len(rewritten))


async def member_numbers(connection: Connection, renaming: Pseudonym) -> Rows:
    """Segments keep the member's number, which means nobody from now on."""
    numbers = [row[0] for row in await connection.fetch(*_DELETE_NUMBER(member_id=renaming.member_id))]
    if numbers:
        await connection.execute(*_ERASED_NUMBERS(numbers=numbers))
    return Rows(member_number=len(numbers))


async def moved_alone(connection: Connection, renaming: Pseudonym) -> Rows:
    return Rows(moved_alone=await touch(connection, _RENAME_MOVED_ALONE(**renaming._asdict())))


async def approvals(connection: Connection, renaming: Pseudonym) -> Rows:
    """Approvals about the member keep who decided, and what, without the name and the reasons; a pending one is void.
    The digest is made anew.
    """
    rows = await connection.fetch(*_APPROVALS(member_id=renaming.member_id), timeout=_SCAN_TIMEOUT_S)
    for approval in (Approval(*row) for row in rows):
        if approval.status == Status.APPROVED:
            raise Refused(
                f"an approval is being carried out; `abacus approvals approve {approval.approval_id}` ends it"
            )
        document = canonical(json.loads(renaming.explanation(approval.document.encode())))
        digest = digest_of(approval.kind, approval.subject, approval.country, document)
        forgotten = _FORGET_APPROVAL(document=document, digest=digest, approval_id=approval.approval_id)
        await connection.execute(*forgotten)
    return Rows(approval=len(rows))


async def log_entries(connection: Connection, renaming: Pseudonym) -> Rows:
    """The log keeps who did what, without the name and the reasons."""
    rows = await entries_about(connection, f"member:{renaming.member_id}")
    for row in rows:
        await forget(connection, row, f"member:{renaming.pseudonym}", renaming.explanation(row.entry.details))
    return Rows(audit_log=len(rows))


async def errands(connection: Connection, renaming: Pseudonym) -> Rows:
    """Deletes also errands that only name a member whose id contains this id: people ask for them again."""
    forms = written(renaming.member_id)
    found = await connection.fetchval(*_DELETE_ERRANDS(forms=forms), timeout=_SCAN_TIMEOUT_S)
    return Rows(console_errand=found)


async def faults(connection: Connection, renaming: Pseudonym) -> Rows:
    """Deletes what names the member, or an id that contains this id: the workers' log has it, and an alarm that stands
    is raised anew.
    """
    forms = written(renaming.member_id)
    return Rows({table: await touch(connection, each(forms=forms)) for table, each in _DELETE_FAULTS.items()})


async def touch(connection: Connection, statement: tuple[Any, ...]) -> int:
    return await rows_changed(connection, statement, within_s=_SCAN_TIMEOUT_S)
