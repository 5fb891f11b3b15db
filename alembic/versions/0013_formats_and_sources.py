"""Transfers and seals name the format of their hash, and transfers where their points came from.

What is stored stays as it is: its format is the first, and its source is told by its key.
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table transfer add column format smallint not null default 1, add column source text")
    op.execute("alter table seal add column format smallint not null default 1")


def downgrade() -> None:
    """Refused once a transfer is hashed in a later format: without its columns it could not be verified."""
    op.execute("""
        do $$ begin
            if exists (select from transfer where format > 1) or exists (select from seal where format > 1) then
                raise exception 'transfers are hashed in a format that revision 0012 does not know';
            end if;
        end $$
    """)
    op.execute("alter table seal drop column format")
    op.execute("alter table transfer drop column format, drop column source")
