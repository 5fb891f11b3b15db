"""A ledger in slices: which there are, the register of keys over all of them, and the guard at each one's accounts."""

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

STATEMENTS = (
    "create table slice (number smallint not null, constraint slice_pkey primary key (number))",
    'create table key_slice (key text collate "C" not null, slice smallint not null, primary key (key))',
    """
    create trigger slice_is_append_only before update or delete or truncate on slice
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger key_slice_is_append_only before update or delete or truncate on key_slice
        for each statement execute function abacus_refuse_change()
    """,
    """
    create trigger key_slice_rows_stay before update or delete on key_slice
        for each row execute function abacus_refuse_change()
    """,
    """
    create table seal_slice (
        seal_number bigint not null,
        slice smallint not null,
        accounts bigint not null,
        transfers bigint not null,
        root bytea not null,
        primary key (seal_number, slice)
    )
    """,
    """
    create trigger seal_slice_is_append_only before update or delete or truncate on seal_slice
        for each statement execute function abacus_refuse_change()
    """,
    # The first 32 bits of the id's SHA-256, as `abacus.platform.slices.layout` has them.
    """
    create function abacus_slice_of(member_id text, slices integer) returns integer immutable strict parallel safe
        return (('x' || encode(substr(sha256(convert_to(member_id, 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint
            % slices)::integer
    """,
    """
    create function abacus_refuse_stranger() returns trigger language plpgsql as $$
    begin
        raise exception 'a member of another slice is no member of %', tg_table_schema
            using errcode = 'check_violation';
    end $$
    """,
    "grant select on slice to abacus_app",
    "grant select, insert on key_slice to abacus_app",
    "grant select, insert on seal_slice to abacus_app",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)


def downgrade() -> None:
    op.execute("drop table seal_slice, key_slice, slice")
    op.execute("drop function abacus_refuse_stranger()")
    op.execute("drop function abacus_slice_of(text, integer)")
