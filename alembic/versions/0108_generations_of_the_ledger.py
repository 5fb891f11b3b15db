"""Transfers and claims lie in generations: one takes new rows, and filters tell of the keys in the others.

What is there becomes the first generation, where it lies; no row is rewritten.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from alembic import op

revision = "0108"
down_revision = "0107"
branch_labels = None
depends_on = None

RULES: Final = Path(__file__).with_name("0108_rules.sql")
FUNCTIONS: Final = (
    "generation_close(integer, timestamptz, bigint, bigint, integer)",
    "generation_open(integer, timestamptz, integer)",
    "generation_to_post_in()",
    "generations_home(integer, text)",
)
DIVIDED: Final = ("transfer", "claim")

# Of each divided table: its indexes, whose names say from now on of which generation they are.
INDEXES: Final = {
    "transfer": ("pkey", "xid_idx", "posted_at_idx", "member_id_program_reverses_idx"),
    "claim": ("pkey",),
}
TRIGGERS: Final = sa.text("""
select tgname as name, (tgtype & 1) = 1 as of_rows, pg_get_triggerdef(oid) as made from pg_trigger
where tgrelid = cast(:table as regclass) and not tgisinternal order by tgname
""")
RIGHTS: Final = sa.text("""
select quote_ident(r.rolname) as role, string_agg(x.privilege_type, ', ') as may
from pg_class c cross join aclexplode(c.relacl) x join pg_roles r on r.oid = x.grantee
where c.oid = cast(:table as regclass) and x.grantee <> c.relowner group by r.rolname
""")

# One generation takes rows: the last. It was left when the next one was opened, and is closed when it has a filter.
GENERATION: Final = """
create table {prefix}generation (
    number integer not null,
    opened_at timestamptz not null,
    left_at timestamptz,
    closed_at timestamptz,
    transfers bigint,
    claims bigint,
    constraint generation_pkey primary key (number)
);
insert into {prefix}generation (number, opened_at) values (1, now());
grant select on {prefix}generation to abacus_app;
create table {prefix}key_filter (
    generation integer not null,
    part integer not null,
    bits bytea not null,
    constraint key_filter_pkey primary key (generation, part)
);
alter table {prefix}key_filter alter column bits set storage plain;
grant select, insert, delete on {prefix}key_filter to abacus_app
"""


def _slices() -> Sequence[str]:
    count = op.get_bind().scalar(sa.text("select count(*) from slice"))
    return [f"slice_{number}" for number in range(count or 0)]


def _divide(prefix: str = "") -> None:
    for statement in GENERATION.format(prefix=prefix).split(";\n"):
        op.execute(statement)
    for table in DIVIDED:
        _become_the_first(prefix, table)


def _become_the_first(prefix: str, table: str) -> None:
    """The whole table has the triggers and the rights that its first generation had; and this has those of its rows
    from the whole table.
    """
    whole, first = f"{prefix}{table}", f"{prefix}{table}_1"
    triggers = op.get_bind().execute(TRIGGERS, {"table": whole}).all()
    rights = op.get_bind().execute(RIGHTS, {"table": whole}).all()
    for each in triggers:
        if each.of_rows:
            op.execute(f"drop trigger {each.name} on {whole}")
    op.execute(f"alter table {whole} add column generation integer not null default 1")
    op.execute(f"alter table {whole} add constraint {table}_1_is_of_it check (generation = 1)")
    op.execute(f"alter table {whole} rename to {table}_1")
    for index in INDEXES[table]:
        op.execute(f"alter index if exists {prefix}{table}_{index} rename to {table}_1_{index}")
    op.execute(
        f"create table {whole} (like {first} including defaults including storage including compression)"
        " partition by list (generation)"
    )
    op.execute(f"alter table {whole} attach partition {first} for values in (1)")
    for each in triggers:
        op.execute(sa.text(each.made.replace(":", r"\:")))
    for each in rights:
        op.execute(f"grant {each.may} on {whole} to {each.role}")


def _views(slices: Sequence[str]) -> None:
    for table in (*DIVIDED, "generation", "key_filter"):
        rows = " union all ".join(f"select * from {schema}.{table}" for schema in slices)
        op.execute(f"create or replace view public.{table} as {rows}")
        op.execute(f"grant select on public.{table} to abacus_app")


def _run(script: str) -> None:
    """Functions with their owner's rights remember the search path: a temporary table of the caller comes last."""
    op.execute("select set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)")
    connection = op.get_bind().connection.dbapi_connection
    connection.run_async(lambda asyncpg: asyncpg.execute(script))


def before(_slices: int) -> None:
    """Nothing has to be there first."""


def in_slice(number: int, _slices: int) -> None:
    _divide(f"slice_{number}.")


def upgrade() -> None:
    if slices := _slices():
        _views(slices)
    else:
        _divide()
    _run(RULES.read_text(encoding="utf-8"))


def downgrade() -> None:
    """Refused where there are several generations."""
    slices = _slices()
    if op.get_bind().scalar(sa.text("select exists (select from generation where number > 1)")):
        raise RuntimeError("the ledger has several generations, which the revision before this one does not know")
    for function in FUNCTIONS:
        op.execute(f"drop function {function}")
    for table in (*DIVIDED, "generation", "key_filter") if slices else ():
        op.execute(f"drop view public.{table}")
    for prefix in [f"{schema}." for schema in slices] or [""]:
        _join(prefix)
    for table in DIVIDED if slices else ():
        rows = " union all ".join(f"select * from {schema}.{table}" for schema in slices)
        op.execute(f"create view public.{table} as {rows}")
        op.execute(f"grant select on public.{table} to abacus_app")


def _join(prefix: str) -> None:
    for table in DIVIDED:
        whole, first = f"{prefix}{table}", f"{prefix}{table}_1"
        of_rows = [each for each in op.get_bind().execute(TRIGGERS, {"table": whole}).all() if each.of_rows]
        op.execute(f"alter table {whole} detach partition {first}")
        op.execute(f"drop table {whole}")
        op.execute(f"alter table {first} rename to {table}")
        op.execute(f"alter table {whole} drop constraint {table}_1_is_of_it")
        op.execute(f"alter table {whole} drop column generation")
        for index in INDEXES[table]:
            op.execute(f"alter index if exists {prefix}{table}_1_{index} rename to {table}_{index}")
        for each in of_rows:
            op.execute(sa.text(each.made.replace(":", r"\:")))
    op.execute(f"drop table {prefix}key_filter")
    op.execute(f"drop table {prefix}generation")
