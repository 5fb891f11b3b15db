"""Every place beside the ledger's own three tables where a member stands, and what becomes of it.

A new table that names members takes its place here; a test goes through all tables and asks for it.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import orjson

from abacus.core.errors import Reason, Refused
from abacus.oversight.erasure.decide.bodies import renamed_accounts, without
from abacus.oversight.erasure.decide.renaming import ERASED, Renaming
from abacus.platform.postgres import Connection
from abacus.platform.quarantine.types import Item, Stage

# Rows touched, by table.
Rows: TypeAlias = Counter[str]
Place: TypeAlias = Callable[[Connection, Renaming], Awaitable[Rows]]

_SCAN_TIMEOUT_S: Final = 3600.0  # some of these tables have no index by member; an erasure may read them whole

# Told or to be told, and wishes: nothing of it is needed any more.
DELETED: Final = ("notice", "notification", "notification_preference")

# Kept under the pseudonym, with what is to change beside the name. A change of tier that is not published yet will not
# be: it is news of nobody.
RENAMED: Final = {
    "account_tier": "",
    "membership": f", reason = '{ERASED}'",
    "adjustment": f", reason = '{ERASED}', note = case when note is not null then '{ERASED}' end",
    "rejection": "",
    "tier_change": (
        f", note = case when note is not null then '{ERASED}' end, published_at = coalesce(published_at, changed_at)"
    ),
    "tier_tally": "",
}

# Nobody stands in these. The ledger's own tables are `ledger.py`'s.
NAMELESS: Final = frozenset(
    {
        "assumption",
        "allowance",
        "erasure",
        "notification_pace",
        "partner",
        "partner_key",
        "rate_card",
        "seal",
        "sealed_leaf",
        "tier_calendar",
        "tier_roll",
        "webhook",
        "webhook_cursor",
    }
)


async def _deleted(connection: Connection, renaming: Renaming) -> Rows:
    return Rows(
        {
            table: await _touch(connection, f"delete from {table} where member_id = $1", renaming.member_id)
            for table in DELETED
        }
    )


async def _renamed(connection: Connection, renaming: Renaming) -> Rows:
    return Rows(
        {
            table: await _touch(connection, f"update {table} set member_id = $2{more} where member_id = $1", *renaming)
            for table, more in RENAMED.items()
        }
    )


async def _partner_awards(connection: Connection, renaming: Renaming) -> Rows:
    rows = await connection.fetch(
        "select award_id, explanation from partner_award where member_id = $1 order by award_id for update",
        renaming.member_id,
        timeout=_SCAN_TIMEOUT_S,
    )
    await connection.executemany(
        "update partner_award set member_id = $2, explanation = $3 where award_id = $1",
        [(award_id, renaming.pseudonym, renaming.explanation(explanation)) for award_id, explanation in rows],
    )
    return Rows(partner_award=len(rows))


async def _webhook_deliveries(connection: Connection, renaming: Renaming) -> Rows:
    """What was delivered leaves its id behind, so that an event that is read again is not told again."""
    about = "body::json #>> '{data,member_id}' = $1"
    emptied = await _touch(
        connection,
        f"update webhook_delivery set body = '{{}}' where delivered_at is not null and {about}",
        renaming.member_id,
    )
    deleted = await _touch(
        connection, f"delete from webhook_delivery where delivered_at is null and {about}", renaming.member_id
    )
    return Rows(webhook_delivery=emptied + deleted)


async def _quarantine(connection: Connection, renaming: Renaming) -> Rows:
    """What is about the member goes; an envelope stays with what is about others, under the id that this has."""
    rows = await connection.fetch(
        "select id, stage, origin, reason, detail, body from quarantine where position($1 in body) > 0"
        " or position($2 in detail) > 0 or position('\\x5c'::bytea in body) > 0"
        " or position('transaction_base64'::bytea in body) > 0 for update",
        renaming.member_id.encode(),
        renaming.member_id,
        timeout=_SCAN_TIMEOUT_S,
    )
    touched = 0
    for id_, stage, origin, reason, detail, body in rows:
        left, said = without(body, renaming.member_id), renaming.text(detail)
        if left is None:
            await connection.execute("delete from quarantine where id = $1", id_)
        elif (left, said) != (body, detail):
            again = Item(Stage(stage), origin, Reason(reason), said, left)
            await connection.execute("delete from quarantine where id = $1 and id <> $2", again.id, id_)
            await connection.execute(
                "update quarantine set id = $2, body = $3, detail = $4 where id = $1", id_, again.id, left, said
            )
        touched += left is None or (left, said) != (body, detail)
    return Rows(quarantine=touched)


async def _expiry(connection: Connection, renaming: Renaming) -> Rows:
    """Envelopes that are kept until they are done, and how far a month's end has looked."""
    if await connection.fetchval(
        "select exists(select from expiry_run where found_member = $1 and swept_at is null)", renaming.member_id
    ):
        raise Refused("a month's end is under way and has come to this member; let `abacus expiry run` end first")
    rows = await connection.fetch(
        "select country, month, number, body from expiry_batch where position($1 in body) > 0 for update",
        orjson.dumps(renaming.member_id)[1:-1].decode(),  # as the envelope has it
    )
    changed = [(*place, after) for *place, body in rows if (after := renamed_accounts(body, *renaming)) != body]
    await connection.executemany(
        "update expiry_batch set body = $4 where country = $1 and month = $2 and number = $3", changed
    )
    runs = await _touch(connection, "update expiry_run set found_member = $2 where found_member = $1", *renaming)
    return Rows(expiry_batch=len(changed), expiry_run=runs)


async def _daily_use(connection: Connection, renaming: Renaming) -> Rows:
    statement = "update allowance_member set member_id = $2 where member_id = $1"
    return Rows(allowance_member=await _touch(connection, statement, *renaming))


async def _holds(connection: Connection, renaming: Renaming) -> Rows:
    return Rows(hold=await _touch(connection, "update hold set member_id = $2 where member_id = $1", *renaming))


# In two groups, because others who take several of these locks take them in this order: the expirer has its batch
# before the accounts, and whoever posts has the accounts before what a partner gave their members today.
BEFORE_ACCOUNTS: Final[Sequence[Place]] = (
    _deleted,
    _renamed,
    _partner_awards,
    _webhook_deliveries,
    _quarantine,
    _expiry,
)
AFTER_ACCOUNTS: Final[Sequence[Place]] = (_daily_use, _holds)
TREATED: Final = frozenset(
    {
        *DELETED,
        *RENAMED,
        "allowance_member",
        "hold",
        "partner_award",
        "webhook_delivery",
        "quarantine",
        "expiry_batch",
        "expiry_run",
    }
)


async def _touch(connection: Connection, statement: str, *values: str) -> int:
    return int((await connection.execute(statement, *values, timeout=_SCAN_TIMEOUT_S)).rpartition(" ")[2])
