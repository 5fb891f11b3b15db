"""What grows is known by day, and rows whose time is over can be deleted by those who swept nothing so far."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0107"
down_revision = "0106"
branch_labels = None
depends_on = None

# The bytes of a table with its indexes on a day, over all slices and servers; without a name, of the whole database.
SIZES = """
create table size_of_day (
    day date not null,
    of_table text collate "C" not null,
    bytes bigint not null,
    constraint size_of_day_pkey primary key (day, of_table)
);
grant select, insert, delete on size_of_day to abacus_app
"""

# Items that are held are deleted by nobody, and replayed ones not before their time, whatever the caller says.
FORGET_REPLAYED = """
create function abacus_forget_replayed(before timestamptz, most integer) returns bigint
    language plpgsql security definer set search_path from current as $$
declare
    gone bigint;
begin
    with old as materialized (
        select id from quarantine
        where status = 'replayed' and replayed_at < least(before, now() - interval '90 days')
        limit most for update skip locked
    ), deleted as (
        delete from quarantine q using old where q.id = old.id returning 1
    )
    select count(*) into gone from deleted;
    return gone;
end $$
"""
RIGHTS = """
revoke execute on function abacus_forget_replayed(timestamptz, integer) from public;
grant execute on function abacus_forget_replayed(timestamptz, integer) to abacus_app
"""

# Who locks a row before deleting it needs the right to change a column.
SWEPT = {"action": "delete", "campaign_progress": "delete", "journey_trail": "delete, update (id)"}


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice")) or 0
    return [f"slice_{number}" for number in range(count)]


def _let_sweep(at: str) -> None:
    for table, rights in SWEPT.items():
        op.execute(f"grant {rights} on {at}{table} to abacus_app")


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _let_sweep(f"slice_{number}.")


def upgrade() -> None:
    for statement in (*SIZES.split(";\n"), FORGET_REPLAYED, *RIGHTS.split(";\n")):
        op.execute(statement)
    if not _slices():
        _let_sweep("")


def downgrade() -> None:
    for at in [f"{schema}." for schema in _slices()] or [""]:
        for table, rights in SWEPT.items():
            op.execute(f"revoke {rights} on {at}{table} from abacus_app")
    op.execute("drop function abacus_forget_replayed(timestamptz, integer)")
    op.execute("drop table size_of_day")
