"""Members link an account by signing in at its partner: what is kept until they come back, and the house's secrets."""

from alembic import op

revision = "0104"
down_revision = "0103"
branch_labels = None
depends_on = None

# `verifier` is encrypted, and gone with `redirect_uri` once the partner was asked. The digest of the state stands where
# that of a code that was sent does.
LINKS = """
alter table exchange_link add column way text;
alter table exchange_link add column verifier text;
alter table exchange_link add column redirect_uri text;
grant update (way, verifier, redirect_uri) on exchange_link to abacus_app
"""

# Of the house as a client of a partner, encrypted, by the programme that names the client. It is told to no server but
# the one that stands in `client`.
SECRETS = """
create table exchange_client_secret (
    programme text collate "C" not null,
    secret text not null,
    client text not null,
    set_at timestamptz not null,
    set_by text not null,
    constraint exchange_client_secret_pkey primary key (programme)
);
grant select, insert, update (secret, client, set_at, set_by) on exchange_client_secret to abacus_app
"""


def upgrade() -> None:
    for part in (LINKS, SECRETS):
        for statement in part.split(";\n"):
            op.execute(statement)


def downgrade() -> None:
    op.execute("drop table exchange_client_secret")
    for column in ("redirect_uri", "verifier", "way"):
        op.execute(f"alter table exchange_link drop column {column}")
