"""Accounts remember the latest day that their points were good until, and transfers say how the account lapses.

The day comes from the transfers that are there. Where an account by activity was emptied, and got an earlier day with a
late transaction since, it gets its day back. Transfers stay as they are: older ones do not say how the account lapsed.
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table transfer add column lifetime boolean")
    op.execute("alter table account add column active_until date")
    op.execute("""
        update account a
        set active_until = t.day,
            expires_on = case when a.lifetime or a.expires_on is null then a.expires_on else t.day end
        from (select member_id, program, max(expires_on) as day from transfer group by member_id, program) t
        where a.member_id = t.member_id and a.program = t.program and t.day is not null
    """)


def downgrade() -> None:
    """Refused once a transfer is hashed in the later format: without its column it could not be verified."""
    op.execute("""
        do $$ begin
            if exists (select from transfer where format > 2) then
                raise exception 'transfers are hashed in a format that earlier revisions do not know';
            end if;
        end $$
    """)
    op.execute("alter table account drop column active_until")
    op.execute("alter table transfer drop column lifetime")
