"""Approvals that nobody decides on end, and the log is asked who gave whom access."""

from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

STATUSES = "'pending', 'approved', 'done', 'rejected', 'void'"
CLOSED = "'done', 'rejected', 'void'"

# As in 0016, with other statuses that are never left again.
KEEP_WHAT_WAS_ASKED = """
create or replace function abacus_keep_what_was_asked() returns trigger language plpgsql as $$
begin
    if coalesce(current_setting('abacus.erasing', true), '') <> ''
        and (select pg_has_role(current_user, relowner, 'usage') from pg_class where oid = tg_relid)
    then
        return new;
    end if;
    if old.status in ({closed})
        or (new.approval_id, new.kind, new.subject) <> (old.approval_id, old.kind, old.subject)
        or (new.summary, new.document, new.digest) <> (old.summary, old.document, old.digest)
        or (new.asked_by, new.asked_at) <> (old.asked_by, old.asked_at)
        or new.country is distinct from old.country or new.before_people <> old.before_people
        or (old.status = 'approved' and new.decided_by is distinct from old.decided_by)
    then
        raise exception 'approval: what was asked for and what is decided stay' using errcode = 'restrict_violation';
    end if;
    return new;
end $$
"""


def _with_statuses(more: str) -> None:
    op.execute("alter table approval drop constraint approval_status_check")
    op.execute(f"alter table approval add constraint approval_status_check check (status in ({STATUSES}{more}))")
    op.execute(KEEP_WHAT_WAS_ASKED.format(closed=CLOSED + more))


def upgrade() -> None:
    _with_statuses(", 'expired'")
    op.execute("create index audit_log_access_idx on audit_log (at) where deed = 'manage-people'")


def downgrade() -> None:
    op.execute("drop index audit_log_access_idx")
    op.execute("alter table approval disable trigger approval_keeps_what_was_asked")
    op.execute("update approval set status = 'void' where status = 'expired'")
    op.execute("alter table approval enable trigger approval_keeps_what_was_asked")
    _with_statuses("")
