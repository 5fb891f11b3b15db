"""The application's role changes only the columns that it has to, and limits only with an entry of the log.

A hold keeps its points, its member and the transfer that placed it; an allowance its limits; a partner's key and a
tier's change whatever they were made with. Nobody deletes keys of partners, nor what members got in a day.
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

# The columns that change in the life of a row, by table.
CHANGED = {
    "account": (
        "balance, held, earned_total, expires_on, last_seq, head_hash, last_xid, lots_closed, lots_drawn, lapsed_seq,"
        " lifetime, active_until"
    ),
    "account_tier": "country, tier, until, last_seq, changes",
    "allowance": "used, day, used_that_day",
    "allowance_member": "used",
    "expiry_batch": "body, sent_at, done_at, expired, skipped, points",
    "expiry_run": "found_day, found_member, found_program, swept_at, finished_at",
    "hold": "status, settled_seq",
    "membership": "tier, reason, actor, set_at",
    "notice": "due_at, told_at",
    "notification": "due_at, attempts, failing_since, last_error, sent_at, parked_at",
    "notification_pace": "free_at",
    "notification_preference": "locale, channels, set_by, set_at",
    "partner": (
        "name, fixed_points, computed_points, countries, card_scope, requests_per_minute, signing_secret, disabled_at,"
        " may_spend, may_adjust, may_see_others, sources"
    ),
    "partner_award": "program, points, expires_on, explanation, lifetime, provisional, taken_until, queued_at",
    "partner_key": "expires_at, last_used_at",
    "quarantine": ("reason, detail, fingerprint, posted_fingerprint, status, set_aside_at, replayed_at, replays"),
    "rate_limit": "full_at",
    "relay_cursor": "xid, member_id, program, seq, moved_at",
    "tier_calendar": "rolled_through",
    "tier_change": "published_at",
    "tier_roll": "stepped_down, kept, finished_at",
    "tier_tally": "earned, tier, threshold",
    "webhook": "url, secret, former_secret, former_secret_until, disabled_at, disabled_why",
    "webhook_cursor": "xid, key, moved_at",
    "webhook_delivery": (
        "attempts, due_at, retry_until, taken_until, delivered_at, given_up_at, last_status, last_error"
    ),
    "worker_process": "seen_at, report",
}

LIMITS = "per_award, per_member_day, per_day, in_total"

# It has the owner's rights, so it names the schema of its tables itself: a temporary table of the caller comes last.
SET_LIMITS = (
    f"""
    create function abacus_set_limits(
        of_partner text, new_per_award bigint, new_per_member_day bigint, new_per_day bigint, new_in_total bigint
    ) returns void language plpgsql security definer as $$
    begin
        if not exists (
            select from audit_log
            where subject = 'partner:' || of_partner and deed = 'edit-limits' and xmin = pg_current_xact_id()::xid
        ) then
            raise exception 'the limits of % change only in a transaction that writes it into the log', of_partner
                using errcode = 'restrict_violation';
        end if;
        update allowance set ({LIMITS}) = (new_per_award, new_per_member_day, new_per_day, new_in_total)
        where partner_id = of_partner;
    end $$
    """,
    """
    do $$ begin
        execute format(
            'alter function abacus_set_limits(text, bigint, bigint, bigint, bigint) set search_path = %I, pg_temp',
            current_schema()
        );
    end $$
    """,
    "revoke execute on function abacus_set_limits(text, bigint, bigint, bigint, bigint) from public",
    "grant execute on function abacus_set_limits(text, bigint, bigint, bigint, bigint) to abacus_app",
)


def upgrade() -> None:
    for table, columns in CHANGED.items():
        op.execute(f"revoke update on {table} from abacus_app")
        op.execute(f"grant update ({columns}) on {table} to abacus_app")
    op.execute("revoke insert on allowance from abacus_app")
    op.execute(f"grant insert (partner_id, {LIMITS}) on allowance to abacus_app")
    op.execute("revoke delete on allowance_member, partner_key from abacus_app")
    for statement in SET_LIMITS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop function abacus_set_limits(text, bigint, bigint, bigint, bigint)")
    op.execute("grant delete on allowance_member, partner_key to abacus_app")
    op.execute("grant insert on allowance to abacus_app")
    for table in CHANGED:
        op.execute(f"grant update on {table} to abacus_app")
