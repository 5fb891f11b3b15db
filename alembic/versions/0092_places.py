"""Maps are documents of countries, and places are rows of which each says by which change it came."""

from alembic import op

revision = "0092"
down_revision = "0091"
branch_labels = None
depends_on = None

MAPS = """
create table country_map (
    country text not null,
    version integer not null,
    document jsonb not null,
    published_at timestamptz not null,
    published_by text not null,
    constraint country_map_pkey primary key (country, version)
);
create trigger country_map_is_append_only before update or delete or truncate on country_map
    for each statement execute function abacus_refuse_change();
create trigger country_map_is_announced after insert on country_map
    for each statement execute function abacus_announce_change('country_map');
grant select, insert on country_map to abacus_app
"""

# `version` counts the changes of all places, in the order in which they are committed: a reader of all up to a version
# reads what is above it. A place that was removed stays as a row, so that the removal is read as well.
PLACES = """
create table place (
    id text collate "C" not null,
    name text not null,
    country text not null,
    merchant text not null,
    brand text,
    categories text[] not null,
    lon double precision not null,
    lat double precision not null,
    hours text,
    timezone text,
    attributes text not null,
    version bigint not null,
    changed_at timestamptz not null,
    removed boolean not null default false,
    constraint place_pkey primary key (id)
);
create index place_version_idx on place (version, id);
create trigger place_is_announced after insert or update on place
    for each statement execute function abacus_announce_change('place');
grant select, insert, update (name, country, merchant, brand, categories, lon, lat, hours, timezone, attributes,
    version, changed_at, removed) on place to abacus_app
"""


def upgrade() -> None:
    for statement in (MAPS + ";\n" + PLACES).split(";\n"):
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table place")
    op.execute("drop table country_map")
