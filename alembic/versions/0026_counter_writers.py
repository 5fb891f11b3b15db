"""The writers of counters: which topic each reads, where each definition begins, and how far each has counted."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table counter_series (
        series bigint not null,
        topic text collate "C" not null,
        identity text collate "C" not null,
        definition_id integer not null,
        definition_version integer not null,
        part integer not null,
        begins_at timestamptz,
        opened_at timestamptz not null,
        constraint counter_series_pkey primary key (series),
        constraint counter_series_of_key unique (topic, identity, definition_id, definition_version, part)
    )
    """,
    """
    create table counter_start (
        writer bigint not null,
        definition_id integer not null,
        definition_version integer not null,
        first bigint not null,
        after bigint,
        recorded_at timestamptz not null,
        constraint counter_start_pkey primary key (writer, definition_id, definition_version)
    )
    """,
    """
    create table counter_tally (
        writer bigint not null,
        upto bigint not null,
        starts integer not null,
        seen bigint not null,
        counted bigint not null,
        ignored bigint not null,
        repeated bigint not null,
        set_aside bigint not null,
        last_offset bigint,
        last_print text collate "C",
        moved_at timestamptz not null,
        constraint counter_tally_pkey primary key (writer)
    )
    """,
    """
    create trigger counter_series_is_append_only before update or delete or truncate on counter_series
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger counter_start_is_append_only before update or delete or truncate on counter_start
        for each statement execute function abacus_refuse_change()
    """,
    "grant select, insert on counter_series, counter_start to abacus_app",
    "grant select, insert on counter_tally to abacus_app",
    """
    grant update (
        upto, starts, seen, counted, ignored, repeated, set_aside, last_offset, last_print, moved_at
    ) on counter_tally to abacus_app
    """,
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table counter_tally")
    op.execute("drop table counter_start")
    op.execute("drop table counter_series")
