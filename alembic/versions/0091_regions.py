"""Regions come in editions of a country, with the index by which they are looked up."""

from alembic import op

revision = "0091"
down_revision = "0090"
branch_labels = None
depends_on = None

# A shape by its digest: editions share the shapes that did not change.
SHAPES = """
create table region_shape (
    digest bytea not null,
    shape bytea not null,
    constraint region_shape_pkey primary key (digest)
);
alter table region_shape alter column shape set storage external;
grant select, insert, delete on region_shape to abacus_app
"""

# `regions` is JSON: the id, name, kind, priority and shape of each. The highest number that came in force is in force;
# one above it waits for a second person.
EDITIONS = """
create table region_edition (
    country text not null,
    number integer not null,
    regions text not null,
    size integer not null,
    loaded_at timestamptz not null,
    loaded_by text not null,
    in_force_at timestamptz,
    approved_by text,
    constraint region_edition_pkey primary key (country, number)
);
create trigger region_edition_is_announced after insert or update on region_edition
    for each statement execute function abacus_announce_change('region_edition');
grant select, insert, delete, update (in_force_at, approved_by) on region_edition to abacus_app
"""

# Of the edition in force and the one that waits.
INDEXES = """
create table region_index (
    country text not null,
    number integer not null,
    format integer not null,
    index bytea not null,
    constraint region_index_pkey primary key (country, number)
);
alter table region_index alter column index set storage external;
grant select, insert, delete on region_index to abacus_app
"""

TABLES = {"region_shape": SHAPES, "region_edition": EDITIONS, "region_index": INDEXES}


def upgrade() -> None:
    for table in TABLES.values():
        for statement in table.split(";\n"):
            op.execute(statement)


def downgrade() -> None:
    for name in TABLES:
        op.execute(f"drop table {name}")
