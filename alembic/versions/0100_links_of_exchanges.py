"""The key of the digests of partners' account numbers, and how often linking was tried on a day."""

from alembic import op

revision = "0100"
down_revision = "0099"
branch_labels = None
depends_on = None

# `owner` is a member, or a number by its digest.
TABLES = """
create table exchange_key (
    name text not null,
    digest_key text not null,
    constraint exchange_key_pkey primary key (name)
);
grant select, insert, update (digest_key) on exchange_key to abacus_app;
create table exchange_link_attempt (
    day date not null,
    owner text collate "C" not null,
    attempts integer not null,
    constraint exchange_link_attempt_pkey primary key (day, owner)
);
grant select, insert, delete, update (attempts) on exchange_link_attempt to abacus_app
"""


def upgrade() -> None:
    for statement in TABLES.split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table exchange_link_attempt")
    op.execute("drop table exchange_key")
