"""Books with partners: what their statements say, where two books differ, and what is billed and paid."""

from alembic import op

revision = "0103"
down_revision = "0102"
branch_labels = None
depends_on = None

# A partner's statement of a day, as it was last read; its lines are replaced as long as it is not complete.
STATEMENTS = """
create table exchange_partner_day (
    programme text collate "C" not null,
    day date not null,
    complete boolean not null,
    lines integer not null,
    credited bigint not null,
    read_at timestamptz not null,
    constraint exchange_partner_day_pkey primary key (programme, day)
);
create table exchange_partner_line (
    programme text collate "C" not null,
    day date not null,
    id text collate "C" not null,
    state text not null,
    amount bigint not null,
    at timestamptz not null,
    reference text,
    constraint exchange_partner_line_pkey primary key (programme, day, id)
);
create index exchange_partner_line_id_idx on exchange_partner_line (programme, id);
grant select, insert, update (complete, lines, credited, read_at) on exchange_partner_day to abacus_app;
grant select, insert, delete on exchange_partner_line to abacus_app
"""

# One is open at a time of a kind, for what it is about. `tied_at` says since when both books agree again.
BREAKS = """
create table exchange_break (
    break_id uuid not null,
    programme text collate "C" not null,
    country text not null,
    kind text not null,
    about text collate "C" not null,
    exchange_id uuid,
    ours text not null,
    theirs text not null,
    found_at timestamptz not null,
    tied_at timestamptz,
    owner text,
    taken_at timestamptz,
    closed_at timestamptz,
    closed_by text,
    reason text,
    constraint exchange_break_pkey primary key (break_id)
);
create unique index exchange_break_is_open on exchange_break (programme, kind, about) where closed_at is null;
create index exchange_break_found_at_idx on exchange_break (found_at desc);
grant select, insert, update (ours, theirs, tied_at, owner, taken_at, closed_at, closed_by, reason) on exchange_break
    to abacus_app
"""

# A month is billed once for ever.
BILLS = """
create table exchange_bill (
    programme text collate "C" not null,
    month text not null,
    last_n bigint not null,
    document jsonb not null,
    made_at timestamptz not null,
    made_by text not null,
    constraint exchange_bill_pkey primary key (programme, month)
);
create trigger exchange_bill_is_append_only before update or delete or truncate on exchange_bill
    for each statement execute function abacus_refuse_change();
create table exchange_invoice (
    programme text collate "C" not null,
    month text not null,
    reference text not null,
    money numeric not null,
    entered_at timestamptz not null,
    entered_by text not null,
    constraint exchange_invoice_pkey primary key (programme, month)
);
create trigger exchange_invoice_is_append_only before update or delete or truncate on exchange_invoice
    for each statement execute function abacus_refuse_change();
create table exchange_payment (
    programme text collate "C" not null,
    reference text collate "C" not null,
    month text,
    money numeric not null,
    paid_on date not null,
    entered_at timestamptz not null,
    entered_by text not null,
    constraint exchange_payment_pkey primary key (programme, reference)
);
create trigger exchange_payment_is_append_only before update or delete or truncate on exchange_payment
    for each statement execute function abacus_refuse_change();
grant select, insert on exchange_bill, exchange_invoice, exchange_payment to abacus_app
"""


def upgrade() -> None:
    for part in (STATEMENTS, BREAKS, BILLS):
        for statement in part.split(";\n"):
            op.execute(statement)


def downgrade() -> None:
    for table in ("payment", "invoice", "bill", "break", "partner_line", "partner_day"):
        op.execute(f"drop table exchange_{table}")
