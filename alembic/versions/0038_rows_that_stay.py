"""The append-only rule for each row too: triggers for a whole statement do not fire on the parts of a spread table."""

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

# Changes of the first four are looked at row by row since 0010.
KEPT = {
    "claim": "delete",
    "transfer": "delete",
    "rejection": "delete",
    "draw": "delete",
    "sealed_leaf": "update or delete",
    "member_number": "update",
}


def upgrade() -> None:
    for table, changes in KEPT.items():
        op.execute(
            f"create trigger {table}_rows_stay before {changes} on {table}"
            " for each row execute function abacus_refuse_change()"
        )


def downgrade() -> None:
    for table in KEPT:
        op.execute(f"drop trigger {table}_rows_stay on {table}")
