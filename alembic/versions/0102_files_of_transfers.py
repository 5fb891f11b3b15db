"""Files of transfers: what waits for the next file, what each file was asked for, and what was answered."""

from alembic import op

revision = "0102"
down_revision = "0101"
branch_labels = None
depends_on = None

# A file is made before it is written, and written again as it was made. `results` says how many lines are answered.
FILES = """
create table exchange_file (
    name text collate "C" not null,
    programme text collate "C" not null,
    day date not null,
    seq integer not null,
    made_at timestamptz not null,
    lines integer not null,
    amount bigint not null,
    digest text,
    written_at timestamptz,
    received_at timestamptz,
    accepted boolean,
    reason text,
    results integer not null default 0,
    results_digest text,
    answered_at timestamptz,
    fault text,
    constraint exchange_file_pkey primary key (name),
    constraint exchange_file_seq_key unique (programme, day, seq)
);
create index exchange_file_open_idx on exchange_file (programme, day) where answered_at is null;
grant select, insert, update (lines, amount, digest, written_at, received_at, accepted, reason, results,
    results_digest, answered_at, fault) on exchange_file to abacus_app
"""

# A line that was refused with its file, or that is put again, waits for another file.
ORDERS = """
create table exchange_order (
    exchange_id uuid not null,
    line text not null,
    programme text collate "C" not null,
    file text collate "C",
    entered_at timestamptz not null,
    constraint exchange_order_pkey primary key (exchange_id, line)
);
create index exchange_order_waiting_idx on exchange_order (programme) where file is null;
create index exchange_order_file_idx on exchange_order (file) where file is not null;
grant select, insert, update (file) on exchange_order to abacus_app
"""


def upgrade() -> None:
    for part in (FILES, ORDERS):
        for statement in part.split(";\n"):
            op.execute(statement)


def downgrade() -> None:
    op.execute("drop table exchange_order")
    op.execute("drop table exchange_file")
