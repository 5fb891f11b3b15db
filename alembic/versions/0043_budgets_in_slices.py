"""Budgets of partners in slices: each slice has a part of them, and what partners gave its members lies there."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from abacus.platform.slices.migration_steps import hold, let_go

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

LIMITS = "per_award, per_member_day, per_day, in_total"
CHANGED = "used, day, used_that_day, elsewhere, elsewhere_that_day"

PARTS = """
create table if not exists allowance_part (
    partner_id text collate "C" constraint allowance_part_pkey primary key,
    per_award bigint,
    per_member_day bigint,
    per_day bigint,
    in_total bigint,
    used bigint not null,
    day date not null,
    used_that_day bigint not null,
    elsewhere bigint not null,
    elsewhere_that_day bigint not null
)
"""
RIGHTS = {
    "allowance_part": f"select, insert, update ({LIMITS}, {CHANGED})",
    "allowance_member": "select, insert, update (used)",
    "rejection": "select, insert",
}
OF_MEMBERS = ("allowance_member", "rejection")

ALLOWANCES = f"select partner_id, {LIMITS}, used, day, used_that_day from allowance"
GIVEN = """
select d.partner_id, abacus_slice_of(d.member_id, :slices) as number, sum(d.used)::bigint as used,
    coalesce(sum(d.used) filter (where d.day = a.day), 0)::bigint as used_that_day
from allowance_member d join allowance a on a.partner_id = d.partner_id group by 1, 2
"""
ENTER = f"""
insert into {{schema}}.allowance_part (partner_id, {LIMITS}, {CHANGED})
select partner_id, {LIMITS}, :used, day, :used_that_day, :elsewhere, :elsewhere_that_day
from allowance where partner_id = :partner_id
"""

# Messages about rejections are entered slice by slice from here on, each from where the whole had come to.
CURSOR = """
insert into webhook_cursor (source, xid, key, moved_at)
select 'rejection {schema}', coalesce(r.xid, '0'), coalesce(r.key, ''), c.moved_at
from webhook_cursor c left join lateral (
    select xid, key from public.rejection
    where (xid, key) <= (c.xid, c.key) and abacus_slice_of(member_id, {slices}) = {number}
    order by rejection.xid desc, rejection.key desc limit 1
) r on true
where c.source = 'rejection'
"""

TOGETHER = """
update allowance a set used = p.used, day = p.day, used_that_day = p.used_that_day
from (
    select partner_id, sum(used) as used, max(day) as day,
        sum(used_that_day) filter (where day = latest) as used_that_day
    from (select *, max(day) over (partition by partner_id) as latest from ({rows}) r) r group by partner_id
) p where p.partner_id = a.partner_id
"""

# Those whose messages are entered come before the others, which get the id of this transaction.
REJECTIONS_TOGETHER = """
insert into public.rejection (key, member_id, program, points, fingerprint, reason, detail, rejected_at, xid)
select r.key, r.member_id, r.program, r.points, r.fingerprint, r.reason, r.detail, r.rejected_at,
    case when (r.xid, r.key) <= (c.xid, c.key) then '0'::xid8 else pg_current_xact_id() end
from {schema}.rejection r left join webhook_cursor c on c.source = 'rejection {schema}'
"""

TRIGGERS = sa.text("""
select pg_get_triggerdef(oid) from pg_trigger where tgrelid = cast(:name as regclass) and not tgisinternal
    and tgname <> 'goes_into_slices'
""")


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _rows(table: str, slices: Sequence[str]) -> str:
    return " union all ".join(f"select * from {schema}.{table}" for schema in slices)


def _make(name: str, like: str, table: str) -> None:
    op.execute(f"create table {name} (like {like} including all)")
    for made in op.get_bind().scalars(TRIGGERS, {"name": like}).all():
        op.execute(made.replace(f" ON {like} ", f" ON {name} "))
    op.execute(f"grant {RIGHTS[table]} on {name} to abacus_app")


def before(_slices: int) -> None:
    op.execute(PARTS)
    for table in (*OF_MEMBERS, "allowance"):
        hold(table)
    hold("webhook_cursor", rows="old.source = 'rejection'")


def in_slice(number: int, slices: int) -> None:
    schema = f"slice_{number}"
    op.execute("set local citus.enable_unsafe_triggers = on")
    op.execute(CURSOR.format(schema=schema, slices=slices, number=number))
    for table in RIGHTS:
        _make(f"{schema}.{table}", f"public.{table}", table)
    op.execute(
        f"create trigger rejection_is_of_this_slice before insert or update of member_id on {schema}.rejection"
        f" for each row when (abacus_slice_of(new.member_id, {slices}) <> {number})"
        " execute function abacus_refuse_stranger()"
    )
    for table in OF_MEMBERS:
        here = f"where abacus_slice_of(member_id, {slices}) = {number}"
        op.execute(f"insert into {schema}.{table} select * from public.{table} {here}")
    for part in _parts(slices)[number]:
        op.get_bind().execute(sa.text(ENTER.format(schema=schema)), part)


def upgrade() -> None:
    op.execute(PARTS)
    op.execute(f"grant {RIGHTS['allowance_part']} on allowance_part to abacus_app")
    slices = _slices()
    if slices:
        let_go()
        op.execute("delete from webhook_cursor where source = 'rejection'")
        for table in RIGHTS:
            op.execute(f"drop table public.{table}")
            op.execute(f"create view public.{table} as {_rows(table, slices)}")
            op.execute(f"grant select on public.{table} to abacus_app")


def _parts(slices: int) -> list[list[dict[str, object]]]:
    """By slice, what it has of each partner's allowance: what its members got. Points that were given back on a later
    day are still in a member's day, so these sums may be more than was used: then those that gave most have less.
    """
    bind = op.get_bind()
    given = {(row.partner_id, row.number): row for row in bind.execute(sa.text(GIVEN), {"slices": slices})}
    parts: list[list[dict[str, object]]] = [[] for _ in range(slices)]
    for row in bind.execute(sa.text(ALLOWANCES)).all():
        of_slices = [given.get((row.partner_id, number)) for number in range(slices)]
        used = _shared_out(row.used, [each.used if each else 0 for each in of_slices])
        that_day = _shared_out(row.used_that_day, [each.used_that_day if each else 0 for each in of_slices])
        for number in range(slices):
            parts[number].append(
                {
                    "partner_id": row.partner_id,
                    "used": used[number],
                    "used_that_day": that_day[number],
                    "elsewhere": _elsewhere(row.in_total, row.used, used[number]),
                    "elsewhere_that_day": _elsewhere(row.per_day, row.used_that_day, that_day[number]),
                }
            )
    return parts


def _shared_out(total: int, given: Sequence[int]) -> list[int]:
    """Parts that add up to the total, as near as possible to these."""
    parts, over = list(given), sum(given) - total
    parts[0] += max(0, -over)
    for place in sorted(range(len(parts)), key=lambda each: -parts[each]):
        less = min(parts[place], max(0, over))
        parts[place] -= less
        over -= less
    return parts


def _elsewhere(limit: int | None, used: int, here: int) -> int:
    return 0 if limit is None else max(limit, used) - here


def downgrade() -> None:
    slices = _slices()
    if slices:
        op.execute(TOGETHER.format(rows=_rows("allowance_part", slices)))
        for table in OF_MEMBERS:
            op.execute(f"drop view public.{table}")
            _make(f"public.{table}", f"{slices[0]}.{table}", table)
        op.execute("drop trigger rejection_is_of_this_slice on public.rejection")
        op.execute(f"insert into public.allowance_member {_rows('allowance_member', slices)}")
        for schema in slices:
            op.execute(REJECTIONS_TOGETHER.format(schema=schema))
        op.execute("delete from webhook_cursor where starts_with(source, 'rejection ')")
        op.execute("insert into webhook_cursor (source, xid, key, moved_at) values ('rejection', '1', '', now())")
        op.execute("drop view public.allowance_part")
        for table in RIGHTS:
            for schema in slices:
                op.execute(f"drop table {schema}.{table}")
    else:
        op.execute("drop table allowance_part")
