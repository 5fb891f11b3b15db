"""Changes of rate cards and partners are announced to every process when they are committed."""

from alembic import op

revision = "0019"
down_revision = "0013"
branch_labels = None
depends_on = None

# The table that a process keeps a copy of, by the tables that the copy is made of, and the changes that count: a key's
# last use and a partner's used points are noted all the time, and no copy needs to know them at once.
ANNOUNCED = {
    "rate_card": ("rate_card", "insert"),
    "partner": ("partner", "insert or update or delete"),
    "partner_key": ("partner", "insert or update of expires_at, digest or delete"),
    "allowance": ("partner", "insert or update of per_award, per_member_day, per_day, in_total or delete"),
}


def upgrade() -> None:
    op.execute("""
        create function abacus_announce_change() returns trigger language plpgsql as $$
        begin
            perform pg_notify('abacus_changed', tg_argv[0]);
            return null;
        end $$
    """)
    for table, (copied, changes) in ANNOUNCED.items():
        op.execute(f"""
            create trigger {table}_is_announced after {changes} on {table}
                for each statement execute function abacus_announce_change('{copied}')
        """)


def downgrade() -> None:
    for table in ANNOUNCED:
        op.execute(f"drop trigger {table}_is_announced on {table}")
    op.execute("drop function abacus_announce_change()")
