"""What partners asked for in the last days, and how it was answered."""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table partner_request (
        partner_id text collate "C" not null,
        at timestamptz not null,
        noted_id uuid not null,
        request_id text collate "C" not null,
        mode text not null,
        method text not null,
        path text not null,
        status integer not null,
        took_s double precision not null,
        problem text,
        detail text,
        constraint partner_request_pkey primary key (partner_id, at, noted_id)
    )
    """,
    "create index partner_request_partner_id_request_id_idx on partner_request (partner_id, request_id)",
    "create index partner_request_at_idx on partner_request (at)",
    "create index partner_request_refused_idx on partner_request (partner_id, at, noted_id) where status >= 400",
    "grant select, insert, delete on partner_request to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table partner_request")
