"""Journeys are documents with states, and each node of one has a number for ever."""

from alembic import op

revision = "0083"
down_revision = "0082"
branch_labels = None
depends_on = None

CHANGED = "status, changed_at, changed_by, approved_by, approved_at, reason"

# A document is never changed. Of the versions of a journey one at most is in force.
JOURNEY = """
create table journey (
    name text collate "C" not null,
    version integer not null,
    country text not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    document jsonb not null,
    status text not null,
    drafted_at timestamptz not null,
    drafted_by text not null,
    changed_at timestamptz not null,
    changed_by text not null,
    approved_by text,
    approved_at timestamptz,
    reason text,
    constraint journey_pkey primary key (name, version),
    constraint journey_approved_check check (status in ('draft', 'submitted', 'ended') or approved_by is not null)
);
create index journey_status_ends_at_idx on journey (status, ends_at);
create unique index journey_in_force on journey (name) where status in ('approved', 'paused')
"""

# The number of a node stands in the keys of what is done there. A name has its number in all versions, also once it is
# gone. Journeys are drafted one after another.
NODE = """
create table journey_node (
    journey text collate "C" not null,
    node text collate "C" not null,
    number integer not null,
    constraint journey_node_pkey primary key (journey, node),
    constraint journey_node_number_key unique (journey, number)
)
"""
NUMBER_NODES = """
create function abacus_number_journey_nodes() returns trigger language plpgsql as $$
begin
    insert into journey_node
    select new.name, w.node, coalesce((select max(n.number) from journey_node n where n.journey = new.name), 0)
        + row_number() over (order by w.node)
    from (select k collate "C" as node from jsonb_object_keys(new.document -> 'nodes') k) w
    where not exists (select from journey_node n where n.journey = new.name and n.node = w.node);
    return null;
end $$
"""
RULES = f"""
create trigger journey_documents_are_append_only
    before update of name, version, document, country, starts_at, ends_at, drafted_at, drafted_by or delete or truncate
    on journey for each statement execute function abacus_refuse_change();
create trigger journey_is_announced after insert or update on journey
    for each statement execute function abacus_announce_change('journey');
create trigger journey_nodes_have_numbers after insert on journey
    for each row execute function abacus_number_journey_nodes();
create trigger journey_node_is_append_only before update or delete or truncate on journey_node
    for each statement execute function abacus_refuse_change();
grant select, insert, update ({CHANGED}) on journey to abacus_app;
grant select, insert on journey_node to abacus_app
"""


def upgrade() -> None:
    for statements in (JOURNEY, NODE):
        _each(statements)
    op.execute(NUMBER_NODES)
    _each(RULES)


def downgrade() -> None:
    op.execute("drop table journey")
    op.execute("drop function abacus_number_journey_nodes()")
    op.execute("drop table journey_node")


def _each(statements: str) -> None:
    for statement in statements.split(";\n"):
        op.execute(statement)
