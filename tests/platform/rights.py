"""Every right of the application's role, as the migrations leave it, and how the catalog tells it."""

from collections.abc import Mapping
from typing import Final

from abacus.platform.postgres import Connection
from abacus.platform.roles import APPLICATION_ROLE, CONSOLE_ROLE, PEOPLE_ROLE

# By table: the rights to whole rows, and those to some columns only.
RIGHTS: Final[Mapping[str, str]] = {
    "account": (
        "select, insert, update(balance held earned_total expires_on last_seq head_hash last_xid lots_closed lots_drawn"
        " lapsed_seq lifetime active_until vesting)"
    ),
    "account_tier": "select, insert, update(country tier until last_seq changes)",
    "action": "select, insert, delete, update(due_at attempts failing_since done_at refused_at reason)",
    "alembic_version": "select",
    "allowance": (
        "select, insert(partner_id per_award per_member_day per_day in_total), update(used day used_that_day)"
    ),
    "allowance_member": "select, insert, update(used)",
    "allowance_part": (
        "select, insert, update(per_award per_member_day per_day in_total used day used_that_day elsewhere"
        " elsewhere_that_day)"
    ),
    "approval": (
        "select, insert(approval_id kind subject country summary document digest asked_by asked_at),"
        " update(status decided_by decided_at note)"
    ),
    "assumption": "select, insert",
    "audit_head": "select, insert, update(number hash)",
    "audit_log": ("select, insert(entry_id at actor authenticated deed subject country details), update(number hash)"),
    "campaign": "select, insert, update(status changed_at changed_by approved_by approved_at reason)",
    "campaign_claim": "select, insert",
    "campaign_progress": "select, insert, delete, update(events runs points cost marks variant)",
    "campaign_seen": "select, insert, update(events)",
    "campaign_sum": "select, insert, update(events points cost)",
    "category_tree": "select, insert",
    "claim": "select, insert",
    "console_alarm": "select, insert, delete, update(since over_at details commands)",
    "console_authenticator": "select, insert, delete, update(secret set_at set_by last_step)",
    "console_draft": "select, insert, delete, update(title country text saved_at before)",
    "console_errand": (
        "select, insert, delete,"
        " update(state runner token_prefix token_digest started_at seen_at ended_at progress exit_code told output)"
    ),
    "console_errand_file": "select, insert, delete",
    "console_form": "select, insert, delete",
    "console_link": "select, insert, delete, update(used_at)",
    "console_look": "select, insert, delete, update(waits_s)",
    "console_password": "select, insert, update(hash set_at set_by)",
    "console_selection": "select, insert, delete",
    "console_session": "select, insert, delete, update(seen_at zone ended_at ended_by)",
    "country_map": "select, insert",
    "counter_definition": "select, insert",
    "counter_new_keys": "select, insert, delete, update(granted admitted refused upto changed_at)",
    "counter_partition": "select",
    "counter_retirement": "select, insert",
    "counter_row": "select, insert, update(count upto)",
    "counter_series": "select, insert",
    "contact_policy": "select, insert",
    "counter_setting": "select, insert, update(value set_at set_by)",
    "counter_start": "select, insert",
    "counter_tally": (
        "select, insert, update(upto starts seen counted ignored repeated set_aside last_offset last_print moved_at)"
    ),
    "downstream": "select, insert",
    "downstream_secret": "select, insert, update(secret former_secret former_secret_until)",
    "draw": "select, insert",
    "erasure": "select",
    "event_source": "select, insert",
    "expiry_batch": "select, insert, update(body sent_at done_at expired skipped points)",
    "expiry_run": "select, insert, update(found_day found_member found_program swept_at finished_at)",
    "exchange": (
        "select, insert, delete, update(key fingerprint actor source state reason detail reference"
        " asked_at sent_at credited_at ended_at changed_at due_at late_at attempts turns file)"
    ),
    "exchange_bill": "select, insert",
    "exchange_break": "select, insert, update(ours theirs tied_at owner taken_at closed_at closed_by reason)",
    "exchange_client_secret": "select, insert, update(client secret set_at set_by)",
    "exchange_cursor": "select, insert, update(xid exchange_id n moved_at)",
    "exchange_file": (
        "select, insert, update(lines amount digest written_at received_at "
        "accepted reason results results_digest answered_at fault)"
    ),
    "exchange_invoice": "select, insert",
    "exchange_key": "select, insert, update(digest_key)",
    "exchange_link_attempt": "select, insert, delete, update(attempts)",
    "exchange_link": (
        "select, insert, update(digest number holder shown state code_digest code_until tries"
        " verified_at usable_from ended_at ended_by reason way verifier redirect_uri)"
    ),
    "exchange_order": "select, insert, update(file)",
    "exchange_partner_day": "select, insert, update(complete lines credited read_at)",
    "exchange_partner_line": "select, insert, delete",
    "exchange_payment": "select, insert",
    "exchange_position": "select, insert",
    "exchange_programme": "select, insert, update(status changed_at changed_by approved_by approved_at reason)",
    "exchange_standing": "select, insert, update(last_n balance)",
    "exchange_timeline": "select, insert, update(timeline seen_at restored_to noticed_at by)",
    "exchange_turn": "select, insert",
    "exchange_use": "select, insert, update(points)",
    "generation": "select",
    "hold": "select, insert, update(status settled_seq)",
    "journal_accounts": "select, insert",
    "journey": "select, insert, update(status changed_at changed_by approved_by approved_at reason)",
    "journey_behind": "select, insert, update(upto), delete",
    "journey_heard": "select, insert, update(upto)",
    "journey_wave": "select, insert, update(joining present upto version)",
    "journey_node": "select, insert",
    "journey_refusal": "select, insert, delete, update(version at why seen)",
    "journey_sum": "select, insert, update(members)",
    "journey_deed": "select, insert, delete, update(id)",
    "journey_deed_aside": "select, insert, delete",
    "journey_entry_aside": "select, insert, delete, update(due_at fault set_aside_at tries version)",
    "journey_trail": "select, insert, delete, update(id)",
    "key_filter": "select, insert, delete",
    "key_slice": "select, insert",
    "limit_pot": "select, insert, update(runs points cost)",
    "limit_slot": "select, insert, update(version runs points cost)",
    "member_number": "select, insert",
    "member_number_erased": "select",
    "member_number_next": "select, insert, update(next)",
    "member_region": "select, insert, delete, update(inside since seen_at seen_hour)",
    "membership": "select, insert, delete, update(tier reason actor set_at)",
    "month_close": "select, insert",
    "message_count": "select, insert, delete, update(messages)",
    "moved_alone": "select, insert, delete, update(points)",
    "notice": "select, insert, delete, update(due_at owed told_at waits_for)",
    "notification": ("select, insert, delete, update(due_at attempts failing_since last_error sent_at parked_at)"),
    "notification_preference": "select, insert, update(locale channels set_by set_at zone)",
    "offer_redemption": "select, insert, update(saves_back points_back rolled_back_at rollbacks)",
    "offer_reservation": "select, insert, update(saves points cost status ended_at)",
    "offer_shown": "select, insert, update(times)",
    "offer_spent": "select, insert, delete",
    "offer_sum": "select, insert, update(times points saves cost)",
    "offer_taker": "select, insert, update(offer)",
    "offer": "select, insert, update(status changed_at changed_by approved_by approved_at reason)",
    "offer_invitation": "select, insert, delete, update(offers)",
    "offer_gift": "select, insert, delete",
    "offer_number": "select, insert",
    "offer_code": "select, insert",
    "offer_code_batch": "select, insert, update(is_checked loaded withdrawn_at)",
    "offer_code_key": "select, insert, update(digest_key)",
    "offer_code_use": "select, insert, delete, update(reservation_id until used_at)",
    "offer_pool": "select, insert, update(country)",
    "pace": "select, insert, update(free_at)",
    "pack": "select, insert, delete, update(id)",
    "pack_aside": "select, insert, delete",
    "partner": (
        "select, insert, update(name fixed_points computed_points countries card_scope requests_per_minute"
        " signing_secret disabled_at may_spend may_adjust may_count may_read_members may_use_offers may_explain_offers"
        " may_load_places may_send_positions may_exchange may_see_others sources)"
    ),
    "partner_award": (
        "select, insert, update(program points expires_on explanation lifetime provisional taken_until queued_at)"
    ),
    "partner_request": "select, insert, delete",
    "points_pulse": "select, insert, delete, update(awards points)",
    "partner_key": "select, insert, update(expires_at last_used_at)",
    "person": "select, insert, update(grants disabled_at)",
    "person_token": "select, insert, update(revoked_at last_used_at)",
    "place": (
        "select, insert, update(name country merchant brand categories lon lat hours timezone attributes version"
        " changed_at removed)"
    ),
    "quarantine": (
        "select, insert, update(reason detail fingerprint posted_fingerprint status set_aside_at replayed_at replays)"
    ),
    "quarantine_tally": "select",
    "queue_failure": "select, insert, delete, update(why at receives)",
    "rate_card": "select, insert",
    "rate_card_withdrawal": "select, insert",
    "rate_limit": "select, insert, update(full_at)",
    "rejection": "select, insert",
    "relay_cursor": "select, insert, update(xid member_id program seq moved_at)",
    "reward": "select, insert, update(status changed_at changed_by approved_by approved_at reason)",
    "reward_code": "select, insert, update(secret redemption_id is_spare)",
    "reward_pool": "select, insert, update(loaded given digest_key)",
    "reward_redemption": "select, insert, update(stage reason detail changed_at given_at back_at)",
    "reward_use": "select, insert, update(pieces)",
    "seal": "select, insert, update(published_at)",
    "seat": "select, insert, update(version node turn arm since left_at why converted_at)",
    "region_edition": "select, insert, delete, update(in_force_at approved_by)",
    "region_index": "select, insert, delete",
    "region_shape": "select, insert, delete",
    "seal_slice": "select, insert",
    "sealed_leaf": "select",
    "segment_version": "select, insert, delete",
    "size_of_day": "select, insert, delete",
    "slice": "select",
    "slice_step": "select",
    "tier_calendar": "select, insert, update(rolled_through)",
    "tier_change": "select, insert, update(published_at)",
    "tier_roll": "select, insert, update(stepped_down kept finished_at)",
    "tier_tally": "select, insert, update(earned tier threshold)",
    "transfer": "select, insert",
    "webhook": (
        "select, insert, delete, update(url secret former_secret former_secret_until disabled_at disabled_why)"
    ),
    "webhook_cursor": "select, insert, update(xid key moved_at)",
    "untold_message": "select, insert, delete",
    "webhook_delivery": (
        "select, insert, delete, update(attempts due_at retry_until taken_until delivered_at given_up_at last_status"
        " last_error)"
    ),
    "worker_process": "select, insert, delete, update(seen_at report)",
}

# The rights of each role where the logins are split, in the tables in which they differ.
SPLIT: Final[Mapping[str, Mapping[str, str]]] = {
    APPLICATION_ROLE: {
        "console_authenticator": "select",
        "console_draft": "select",
        "console_errand": "select",
        "console_errand_file": "select",
        "console_form": "select",
        "console_link": "select",
        "console_password": "select",
        "console_selection": "select",
        "console_session": "select",
        "person": "select",
        "person_token": "select, update(last_used_at)",
        "segment_version": "select",
    },
    PEOPLE_ROLE: {
        "console_authenticator": "select, insert, delete, update(secret set_at set_by last_step)",
        "console_draft": "select",
        "console_errand": "select",
        "console_errand_file": "select",
        "console_form": "select",
        "console_link": "select, insert, delete, update(used_at)",
        "console_password": "select, insert, update(hash set_at set_by)",
        "console_selection": "select",
        "console_session": "select, update(ended_at ended_by)",
        "person": "select, insert, update(grants disabled_at)",
        "person_token": "select, insert, update(revoked_at last_used_at)",
        "segment_version": "select, insert, delete",
    },
    CONSOLE_ROLE: {
        "console_authenticator": "select, insert, delete, update(secret set_at set_by last_step)",
        "console_draft": "select, insert, delete, update(title country text saved_at before)",
        "console_errand": (
            "select, insert, delete,"
            " update(state runner token_prefix token_digest started_at seen_at ended_at progress exit_code told output)"
        ),
        "console_errand_file": "select, insert, delete",
        "console_form": "select, insert, delete",
        "console_link": "select, insert, delete, update(used_at)",
        "console_password": "select, insert, update(hash set_at set_by)",
        "console_selection": "select, insert, delete",
        "console_session": "select, insert, delete, update(seen_at zone ended_at ended_by)",
        "person": "select, insert, update(grants disabled_at)",
        "person_token": "select, update(last_used_at)",
        "segment_version": "select, insert, delete",
    },
}

# Functions with their owner's rights that the role may call.
FUNCTIONS: Final = {
    *("abacus_forget_replayed", "abacus_set_limits", "abacus_state_of"),
    *("counter_partition_drop", "counter_partition_keep"),
    *("generation_open", "generation_close"),
}

# Views of an extension, such as Citus, are not ours to grant.
# Parts of a table have the rights that its own test asks for.
_OURS: Final = """
not c.relispartition
and not exists (select from pg_depend d where (d.classid, d.objid, d.deptype) = (c.tableoid, c.oid, 'e'))
"""
_COLUMNS: Final = f"""
select c.relname::text as table, a.attname::text as column, p.privilege,
    has_column_privilege($1, c.oid, a.attnum, p.privilege) as may
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
cross join (values ('select'), ('insert'), ('update')) as p (privilege)
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S') and {_OURS}
order by c.relname, a.attnum
"""
_TABLES: Final = f"""
select c.relname::text as table, p.privilege from pg_class c
cross join (values ('delete'), ('truncate'), ('references'), ('trigger')) as p (privilege)
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and {_OURS} and has_table_privilege($1, c.oid, p.privilege)
"""
_FUNCTIONS: Final = """
select p.proname::text from pg_proc p
where p.pronamespace = current_schema()::regnamespace and p.prosecdef and has_function_privilege($1, p.oid, 'execute')
"""


async def granted(connection: Connection, role: str = APPLICATION_ROLE) -> dict[str, str]:
    """The rights of a role by table, as `RIGHTS` writes them, of the connection's schema."""
    columns: dict[str, dict[str, dict[str, bool]]] = {}
    for table, column, privilege, may in await connection.fetch(_COLUMNS, role):
        columns.setdefault(table, {}).setdefault(privilege, {})[column] = may
    whole: dict[str, list[str]] = {table: [] for table in columns}
    for table, privilege in await connection.fetch(_TABLES, role):
        whole[table].append(privilege)
    rights = {
        table: [
            *(each for each, may in of.items() if all(may.values())),
            *sorted(whole[table]),
            *(
                f"{each}({' '.join(column for column, granted in may.items() if granted)})"
                for each, may in of.items()
                if any(may.values()) and not all(may.values())
            ),
        ]
        for table, of in columns.items()
    }
    return {table: ", ".join(each) for table, each in rights.items()}


async def callable_with_rights(connection: Connection) -> set[str]:
    return {row[0] for row in await connection.fetch(_FUNCTIONS, APPLICATION_ROLE)}


def in_order(rights: str) -> set[str]:
    """The rights, in whatever order they and their columns are named."""
    named = (part.strip(" )").partition("(") for part in rights.split(","))
    return {" ".join([privilege, *sorted(columns.split())]) for privilege, _, columns in named}
