"""Single codes of offers: batches of them, digests, and the reservations that take them."""

from alembic import op

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None

# One row. The key is encrypted; digests are keyed by it, so that nobody finds a code by guessing at digests.
KEY = """
create table offer_code_key (
    name text collate "C" not null,
    digest_key text not null,
    constraint offer_code_key_pkey primary key (name)
);
grant select, insert, update (digest_key) on offer_code_key to abacus_app;
"""

# The pool of an offer, which may be loaded before the offer is drafted; locked while a batch of it is made. Codes of a
# batch that `is_checked` all have the check character. `loaded` counts the codes that are in the batch.
POOLS = """
create table offer_pool (
    offer text collate "C" not null,
    number integer not null,
    country text not null,
    constraint offer_pool_pkey primary key (offer),
    constraint offer_pool_number_key unique (number)
);
grant select, insert, update (country) on offer_pool to abacus_app;
create table offer_code_batch (
    pool integer not null,
    batch integer not null,
    name text collate "C" not null,
    is_checked boolean not null,
    loaded bigint not null,
    made_at timestamptz not null,
    made_by text not null,
    withdrawn_at timestamptz,
    constraint offer_code_batch_pkey primary key (pool, batch),
    constraint offer_code_batch_name_key unique (pool, name)
);
create trigger offer_code_batch_is_announced after insert or update on offer_code_batch
    for each statement execute function abacus_announce_change('offer_code_batch');
grant select, insert, update (is_checked, loaded, withdrawn_at) on offer_code_batch to abacus_app;
create table offer_code (
    digest bytea not null,
    pool integer not null,
    batch integer not null,
    constraint offer_code_pkey primary key (digest, pool)
);
grant select, insert on offer_code to abacus_app;
"""

# A code that is taken, and by which reservation. Whether it is taken still follows from the reservation, in the slice
# of its member: a row whose reservation has ended takes nothing, and goes away soon. `used_at` is set once the
# reservation is known to be redeemed.
USES = """
create table offer_code_use (
    digest bytea not null,
    pool integer not null,
    batch integer not null,
    reservation_id uuid not null,
    until timestamptz not null,
    used_at timestamptz,
    constraint offer_code_use_pkey primary key (digest, pool),
    constraint offer_code_use_reservation_id_key unique (reservation_id)
);
create index offer_code_use_pool_idx on offer_code_use (pool, batch);
create index offer_code_use_until_idx on offer_code_use (until) where used_at is null;
grant select, insert, update (reservation_id, until, used_at), delete on offer_code_use to abacus_app;
"""


def upgrade() -> None:
    for part in (KEY, POOLS, USES):
        for statement in filter(str.strip, part.split(";\n")):
            op.execute(statement)


def downgrade() -> None:
    for table in ("offer_code_use", "offer_code", "offer_code_batch", "offer_pool", "offer_code_key"):
        op.execute(f"drop table {table}")
