"""Changes of rate cards and partners are announced to every process when they are committed; a card can be withdrawn
before it begins, and names who approved it.
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# The table that a process keeps a copy of, by the tables that the copy is made of, and the changes that count: a key's
# last use and a partner's used points are noted all the time, and no copy needs to know them at once.
ANNOUNCED = {
    "rate_card": ("rate_card", "insert"),
    "rate_card_withdrawal": ("rate_card", "insert"),
    "partner": ("partner", "insert or update or delete"),
    "partner_key": ("partner", "insert or update of expires_at, digest or delete"),
    "allowance": ("partner", "insert or update of per_award, per_member_day, per_day, in_total or delete"),
}


WITHDRAWALS = (
    """
    create table rate_card_withdrawal (
        scope text not null,
        version integer not null,
        withdrawn_at timestamptz not null,
        withdrawn_by text not null,
        reason text not null,
        constraint rate_card_withdrawal_pkey primary key (scope, version)
    )
    """,
    """
    create trigger rate_card_withdrawal_is_append_only before update or delete or truncate on rate_card_withdrawal
        for each statement execute function abacus_refuse_change()
    """,
    "grant select, insert on rate_card_withdrawal to abacus_app",
    "alter table rate_card add column approved_by text",
)


def upgrade() -> None:
    for statement in WITHDRAWALS:
        op.execute(statement)
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
    op.execute("drop table rate_card_withdrawal")
    op.execute("alter table rate_card drop column approved_by")
