"""What campaigns decided lies with their members: in a ledger that is cut already, it goes into the slices."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from abacus.platform.slices.migration_steps import hold, let_go

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

RIGHTS = {
    "campaign_claim": "select, insert",
    "campaign_progress": "select, insert, update (events, runs, points, cost, marks, variant)",
    "campaign_action": "select, insert, update (due_at, attempts, failing_since, done_at, refused_at, reason)",
    "campaign_slot": "select, insert, update (version, runs, points, cost)",
    "campaign_sum": "select, insert, update (events, points, cost)",
}
OF_MEMBERS = ("campaign_claim", "campaign_progress", "campaign_action")

# What is in the hand of a process goes back to the pot, and it takes anew from there.
GIVE_BACK = """
update campaign_pot p set runs = p.runs - s.runs, points = p.points - s.points, cost = p.cost - s.cost
from (
    select campaign, period, sum(runs) as runs, sum(points) as points, sum(cost) as cost
    from ({rows}) each group by campaign, period
) s
where s.campaign = p.campaign and s.period = p.period
"""

# The rows of all slices as those of one ledger.
TOGETHER = {
    "campaign_slot": "select * from ({rows}) r where false",
    "campaign_sum": (
        "select campaign, version, day, variant, outcome, slot, sum(events), sum(points), sum(cost) from ({rows}) r"
        " group by campaign, version, day, variant, outcome, slot"
    ),
}


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _rows(table: str, slices: Sequence[str]) -> str:
    return " union all ".join(f"select * from {schema}.{table}" for schema in slices)


def _make(name: str, like: str, table: str) -> None:
    op.execute(f"create table {name} (like {like} including all)")
    op.execute(f"grant {RIGHTS[table]} on {name} to abacus_app")


def before(_slices: int) -> None:
    for table in RIGHTS:
        hold(table)


def in_slice(number: int, slices: int) -> None:
    schema = f"slice_{number}"
    op.execute("set local citus.enable_unsafe_triggers = on")
    for table in RIGHTS:
        _make(f"{schema}.{table}", f"public.{table}", table)
        if table == "campaign_claim":
            op.execute(
                f"create trigger {table}_is_of_this_slice before insert or update of member_id on {schema}.{table}"
                f" for each row when (abacus_slice_of(new.member_id, {slices}) <> {number})"
                " execute function abacus_refuse_stranger()"
            )
        if table in OF_MEMBERS:
            here = f"where abacus_slice_of(member_id, {slices}) = {number}"
        elif table == "campaign_sum":  # sums of what was decided before are told by the first slice
            here = "" if number == 0 else "where false"
        else:
            here = "where false"
        op.execute(f"insert into {schema}.{table} select * from public.{table} {here}")


def upgrade() -> None:
    slices = _slices()
    if not slices:
        return
    let_go()
    op.execute(GIVE_BACK.format(rows="select * from public.campaign_slot"))
    for table in RIGHTS:
        op.execute(f"drop table public.{table}")
        op.execute(f"create view public.{table} as {_rows(table, slices)}")
        op.execute(f"grant select on public.{table} to abacus_app")


def downgrade() -> None:
    slices = _slices()
    if not slices:
        return
    let_go()
    op.execute(GIVE_BACK.format(rows=_rows("campaign_slot", slices)))
    for table in RIGHTS:
        op.execute(f"drop view public.{table}")
        _make(f"public.{table}", f"{slices[0]}.{table}", table)
        rows = _rows(table, slices)
        op.execute(f"insert into public.{table} {TOGETHER.get(table, '{rows}').format(rows=rows)}")
        for schema in slices:
            op.execute(f"drop table {schema}.{table}")
