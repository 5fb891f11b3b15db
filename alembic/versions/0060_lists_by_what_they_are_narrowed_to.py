"""The log and the list of approvals have an index, in their order, for what they are narrowed to."""

from alembic import op

revision = "0060"
down_revision = "0058"
branch_labels = None
depends_on = None

INDEXES = {
    "audit_log_actor_idx": "audit_log (actor, at desc, entry_id)",
    "audit_log_deed_idx": "audit_log (deed, at desc, entry_id)",
    "audit_log_country_idx": "audit_log (country, at desc, entry_id) where country is not null",
    "approval_status_idx": "approval (status, asked_at desc, approval_id)",
    "approval_country_idx": "approval (country, asked_at desc, approval_id) where country is not null",
}


def upgrade() -> None:
    # Built while people work: a plain index would keep every deed waiting.
    with op.get_context().autocommit_block():
        for name, of in INDEXES.items():
            op.execute(f"drop index if exists {name}")  # of a build that was interrupted
            op.execute(f"create index concurrently {name} on {of}")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"drop index {name}")
