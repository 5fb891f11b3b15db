"""Tiers and messages lie with their members: in a ledger that is cut already, they go into the slices."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from abacus.platform.slices.migration_steps import hold, let_go

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

OPTIONS = {"account_tier": " with (fillfactor = 70)", "tier_tally": " with (fillfactor = 70)"}
RIGHTS = {
    "account_tier": "select, insert, update (country, tier, until, last_seq, changes)",
    "tier_tally": "select, insert, update (earned, tier, threshold)",
    "tier_change": "select, insert, update (published_at)",
    "membership": "select, insert, delete, update (tier, reason, actor, set_at)",
    "notice": "select, insert, delete, update (due_at, told_at)",
    "notification": (
        "select, insert, delete, update (due_at, attempts, failing_since, last_error, sent_at, parked_at)"
    ),
    "notification_preference": "select, insert, update (locale, channels, set_by, set_at)",
    "tier_calendar": "select, insert, update (rolled_through)",
    "tier_roll": "select, insert, update (stepped_down, kept, finished_at)",
}
OF_MEMBERS = tuple(table for table in RIGHTS if table not in ("tier_calendar", "tier_roll"))
GUARDED = ("account_tier", "membership", "notice", "notification_preference")

# The rows of all slices as those of one ledger; those of members as they are.
TOGETHER = {
    "tier_calendar": "select country, min(rolled_through) from ({rows}) r group by country",
    "tier_roll": (
        "select country, through, sum(found), sum(stepped_down), sum(kept), min(started_at),"
        " case when bool_and(finished_at is not null) then max(finished_at) end from ({rows}) r"
        " group by country, through"
    ),
}


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _rows(table: str, slices: Sequence[str]) -> str:
    return " union all ".join(f"select * from {schema}.{table}" for schema in slices)


def _make(name: str, like: str, table: str) -> None:
    op.execute(f"create table {name} (like {like} including all){OPTIONS.get(table, '')}")
    op.execute(f"grant {RIGHTS[table]} on {name} to abacus_app")


def before(_slices: int) -> None:
    for table in RIGHTS:
        hold(table)


def in_slice(number: int, slices: int) -> None:
    schema = f"slice_{number}"
    op.execute("set local citus.enable_unsafe_triggers = on")
    for table in RIGHTS:
        _make(f"{schema}.{table}", f"public.{table}", table)
        if table in GUARDED:
            op.execute(
                f"create trigger {table}_is_of_this_slice before insert or update of member_id on {schema}.{table}"
                f" for each row when (abacus_slice_of(new.member_id, {slices}) <> {number})"
                " execute function abacus_refuse_stranger()"
            )
        if table in OF_MEMBERS:
            here = f"where abacus_slice_of(member_id, {slices}) = {number}"
        elif table == "tier_roll":  # what was done before the ledger's slices had runs is told by the first
            here = "" if number == 0 else "where false"
        else:
            here = ""
        op.execute(f"insert into {schema}.{table} select * from public.{table} {here}")


def upgrade() -> None:
    slices = _slices()
    if not slices:
        return
    let_go()
    for table in RIGHTS:
        op.execute(f"drop table public.{table}")
        op.execute(f"create view public.{table} as {_rows(table, slices)}")
        op.execute(f"grant select on public.{table} to abacus_app")


def downgrade() -> None:
    slices = _slices()
    if not slices:
        return
    for table in RIGHTS:
        op.execute(f"drop view public.{table}")
        _make(f"public.{table}", f"{slices[0]}.{table}", table)
        rows = _rows(table, slices)
        op.execute(f"insert into public.{table} {TOGETHER.get(table, '{rows}').format(rows=rows)}")
        for schema in slices:
            op.execute(f"drop table {schema}.{table}")
