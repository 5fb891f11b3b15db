"""The inventory of tables beside the ledger's own that name members, and how an erasure treats each.

A new table has to be entered here; a test goes through all tables and fails for a table that is not.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Final

from abacus.engage.journeys.leaving import leave_all
from abacus.oversight.erasure.decide.pseudonym import ERASED, Pseudonym
from abacus.oversight.erasure.treatments import (
    Rows,
    Treatment,
    approvals,
    errands,
    exchanges,
    expiry,
    faults,
    log_entries,
    member_numbers,
    moved_alone,
    packs_aside,
    partner_awards,
    quarantine,
    redemptions,
    touch,
    webhook_deliveries,
)
from abacus.oversight.kinds import KINDS
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

# Messages, preferences, invitations, reasons for not entering journeys, and where members are: none of them is needed
# any more.
DELETED: Final = (
    "member_region",
    *("notice", "notification", "notification_preference", "message_count", "untold_message"),
    *("offer_invitation", "journey_refusal", "journey_entry_aside"),
)

# Kept under the pseudonym, with the columns that change beside the name. A change of tier that is not published yet
# never will be: it is news of nobody.
RENAMED: Final = {
    "account_tier": "",
    "action": (
        ", document = case kind"
        """ when 'award' then ('{"points":' || coalesce(document ->> 'points', 'null') || '}')::json else '{}' end,"""
        f" event = null, reason = case when done_at is null then '{ERASED}' else reason end,"
        # Also of an action that a campaign has entered meanwhile.
        " refused_at = case when done_at is null then coalesce(refused_at, now()) end"
    ),
    "campaign_claim": "",
    "campaign_progress": "",
    "offer_gift": "",
    "membership": f", reason = '{ERASED}'",
    "offer_redemption": ", items = '[]'",
    "offer_reservation": ", items = '[]'",
    "offer_taker": "",
    "rejection": "",
    "seat": ", context = null, event = null, node = null, turn = null",
    "tier_change": (
        f", note = case when note is not null then '{ERASED}' end, published_at = coalesce(published_at, changed_at)"
    ),
    "tier_tally": "",
}

# These name nobody, or, as rows of counters whose templates have the member, only until their `keep` ends (docs/
# erasure.md). Segments, and packs, deeds, trails and waves of journeys, name members by numbers, which mean nobody
# without `member_number`. Documents name nobody.
# `ledger.py` treats the ledger's own tables.
NAMELESS: Final = frozenset(
    {
        *chain.from_iterable(kind.table.names for kind in KINDS),
        "assumption",
        "allowance",
        "allowance_part",
        "audit_head",
        "campaign_seen",
        "campaign_sum",
        "generation",
        "key_filter",
        "limit_pot",
        "limit_slot",
        "console_authenticator",
        "exchange_client_secret",
        "exchange_key",
        "console_draft",
        "console_form",
        "console_link",
        "console_look",
        "console_password",
        "console_selection",
        "console_session",
        "counter_new_keys",
        "counter_partition",
        "counter_row",
        "counter_setting",
        "counter_series",
        "counter_start",
        "counter_tally",
        "downstream_secret",
        "erasure",
        *("exchange_position", "exchange_standing", "exchange_use", "exchange_cursor", "exchange_timeline"),
        *("exchange_file", "exchange_order"),
        *("exchange_partner_day", "exchange_partner_line", "exchange_break"),
        *("exchange_bill", "exchange_invoice", "exchange_payment"),
        "journey_deed",
        "journey_behind",
        "journey_heard",
        "journey_sum",
        "journey_wave",
        "journey_trail",
        "member_number_erased",
        "member_number_next",
        "journey_node",
        "key_slice",
        "month_close",
        "offer_code",
        "offer_code_batch",
        "offer_code_key",
        "offer_code_use",
        "offer_pool",
        "offer_shown",
        "offer_spent",
        "offer_sum",
        "offer_number",
        "place",
        "pace",
        "pack",
        "partner",
        "partner_key",
        "partner_request",
        "person",
        "person_token",
        "points_pulse",
        "quarantine_tally",
        "region_edition",
        "region_index",
        "region_shape",
        "reward_pool",
        "reward_use",
        "rate_limit",
        "seal",
        "seal_slice",
        "sealed_leaf",
        "segment_version",
        "size_of_day",
        "slice",
        "slice_step",
        "tier_calendar",
        "tier_roll",
        "webhook",
        "webhook_cursor",
        "worker_process",
    }
)


# Deeds of journeys that are set aside, until the seats of the member are locked.
_DELETED_AFTER: Final = ("journey_deed_aside",)

_DELETE: Final = {
    table: Statement(f"delete from {table} where member_id = :member_id") for table in (*DELETED, *_DELETED_AFTER)
}
_REFUSE_ACTIONS: Final = Statement("""
update action set refused_at = now()
where member_id = :member_id and done_at is null and refused_at is null
""")
_RENAME: Final = {
    table: Statement(f"update {table} set member_id = :pseudonym{more} where member_id = :member_id")
    for table, more in (RENAMED | {"allowance_member": "", "hold": ""}).items()
}


async def _deleted(connection: Connection, renaming: Pseudonym, tables: Iterable[str] = DELETED) -> Rows:
    member_id = renaming.member_id
    return Rows({table: await touch(connection, _DELETE[table](member_id=member_id)) for table in tables})


async def _renamed(connection: Connection, renaming: Pseudonym) -> Rows:
    await leave_all(connection, renaming.member_id, ERASED, await connection.fetchval("select now()"))
    await connection.execute(*_REFUSE_ACTIONS(member_id=renaming.member_id))  # what waits is never done
    return await _under_pseudonym(connection, renaming, RENAMED)


async def _under_pseudonym(connection: Connection, renaming: Pseudonym, tables: Iterable[str]) -> Rows:
    names = renaming._asdict()
    return Rows({table: await touch(connection, _RENAME[table](**names)) for table in tables})


# In two groups, in the order in which others take several of these locks: the expirer locks its batch before the
# accounts, and posting locks the accounts before a partner's daily sums of their members.
BEFORE_ACCOUNTS: Final[Mapping[tuple[str, ...], Treatment]] = {
    DELETED: _deleted,
    ("pack_aside",): packs_aside,  # who moves members that are set aside locks their pack before their seats
    tuple(RENAMED): _renamed,
    _DELETED_AFTER: partial(_deleted, tables=_DELETED_AFTER),
    ("partner_award",): partner_awards,
    ("reward_redemption", "reward_code"): redemptions,
    ("exchange", "exchange_link", "exchange_link_attempt", "exchange_turn"): exchanges,
    ("webhook_delivery",): webhook_deliveries,
    ("quarantine",): quarantine,
    ("expiry_batch", "expiry_run"): expiry,
    ("member_number",): member_numbers,
}
AFTER_ACCOUNTS: Final[Mapping[tuple[str, ...], Treatment]] = {
    ("allowance_member",): partial(_under_pseudonym, tables=["allowance_member"]),
    ("moved_alone",): moved_alone,
    ("hold",): partial(_under_pseudonym, tables=["hold"]),
    ("approval",): approvals,
    ("audit_log",): log_entries,
    ("console_errand", "console_errand_file"): errands,
    ("queue_failure", "console_alarm"): faults,
}
TREATED: Final = frozenset(chain.from_iterable((*BEFORE_ACCOUNTS, *AFTER_ACCOUNTS)))
