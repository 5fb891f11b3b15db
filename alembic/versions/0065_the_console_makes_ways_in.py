"""The console makes links, passwords and authenticators for people who are entered there."""

from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

RIGHTS = {
    "console_authenticator": "insert, delete, update (secret, set_at, set_by)",
    "console_link": "insert",
    "console_password": "insert, update (set_at, set_by)",
}


def upgrade() -> None:
    for table, rights in RIGHTS.items():
        op.execute(f"grant {rights} on {table} to abacus_console")


def downgrade() -> None:
    for table, rights in RIGHTS.items():
        op.execute(f"revoke {rights} on {table} from abacus_console")
