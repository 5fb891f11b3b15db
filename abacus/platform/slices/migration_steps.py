"""Migrations of a ledger that is cut: a step for each slice, in a transaction of its own, which the slice remembers.

So they lock one slice at a time, and who uses the others goes on. One that was interrupted goes on with the slices that
are left. Beside `upgrade`, such a revision has

    def before(slices)              what has to be there first; it is done again after an interruption
    def in_slice(number, slices)    the change of this slice's tables

and in a ledger that is cut, its `upgrade` is what is left when all slices are done: the views, and what is not cut.
docs/adr/0076 has the reasons.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeVar

import asyncpg
from alembic import op
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

Result = TypeVar("Result")

# Told how many slices of how many are done, of which revision.
Told = Callable[[str, int, int], None]

# `slice_step` has the slices whose steps are done, of the revision that is under way.
_LEFT: Final = text("""
select s.number from slice s left join slice_step d on d.number = s.number and d.revision = :revision
where d.number is null order by s.number
""")
_DONE: Final = text("insert into slice_step values (:number, :revision)")
_COUNT: Final = "select count(*) from slice"

# With each revision that is done, or taken back, nothing is under way.
FORGET: Final = """
do $$ begin
    if to_regclass('slice_step') is not null then delete from slice_step; end if;
end $$
"""


class Step(Protocol):
    """The module of a revision that has a step for each slice."""

    def before(self, slices: int) -> None: ...

    def in_slice(self, number: int, slices: int) -> None: ...


def engine_for(database_url: str, schema: str | None = None) -> AsyncEngine:
    """asyncpg reads the address itself, as the workers' connections do: SQLAlchemy would not take every form of it."""
    session = {"search_path": schema} if schema else {}
    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=lambda: asyncpg.connect(database_url, server_settings=session),
        poolclass=pool.NullPool,
    )


def ahead(config: Config, current: str | None, target: str) -> Sequence[tuple[str, str]]:
    """The revisions between these that have steps for slices, the first one first, each with the one before it."""
    script = ScriptDirectory.from_config(config)
    revisions = list(script.iterate_revisions(target, current or "base"))
    return [
        (str(each.down_revision), each.revision) for each in reversed(revisions) if hasattr(each.module, "in_slice")
    ]


async def do_steps(database_url: str, config: Config, revision: str, told: Told) -> None:
    """Do those steps of the revision that are left."""
    step: Step = ScriptDirectory.from_config(config).get_revision(revision).module
    engine = engine_for(database_url)
    try:
        slices = await _in_a_transaction(engine, _count)
        if not slices:
            return
        left = await _in_a_transaction(engine, lambda connection: _begin(connection, step, revision, slices))
        told(revision, slices - len(left), slices)
        for done, number in enumerate(left, slices - len(left) + 1):
            await _in_a_transaction(engine, _stepping(step, revision, number, slices))
            told(revision, done, slices)
    finally:
        await engine.dispose()


async def _in_a_transaction(engine: AsyncEngine, work: Callable[[Connection], Result]) -> Result:
    async with engine.begin() as connection:
        doing: Awaitable[Result] = connection.run_sync(work)
        return await doing


def _count(connection: Connection) -> int:
    return int(connection.scalar(text(_COUNT)) or 0)


def _begin(connection: Connection, step: Step, revision: str, slices: int) -> Sequence[int]:
    with Operations.context(MigrationContext.configure(connection)):
        step.before(slices)
    return connection.scalars(_LEFT, {"revision": revision}).all()


def _stepping(step: Step, revision: str, number: int, slices: int) -> Callable[[Connection], None]:
    def in_slice(connection: Connection) -> None:
        with Operations.context(MigrationContext.configure(connection)):
            step.in_slice(number, slices)
        connection.execute(_DONE, {"revision": revision, "number": number})

    return in_slice


# Of the lock that is not to be had, so that who writes waits, and tries again.
_HOLD: Final = """
create or replace function abacus_goes_into_slices() returns trigger language plpgsql as $$ begin
    raise exception '% goes into the slices; `abacus migrate` has not come to its end', tg_table_name
        using errcode = 'lock_not_available';
end $$
"""
_LET_GO: Final = "drop function if exists abacus_goes_into_slices() cascade"


def hold(table: str) -> None:
    """For `before`: the table can be read, and nobody changes it until `let_go`. What slices have taken over would be
    changed where nobody looks any more.
    """
    op.execute(_HOLD)
    op.execute(
        f"create or replace trigger goes_into_slices before insert or update or delete on public.{table}"
        " for each statement execute function abacus_goes_into_slices()"
    )


def let_go() -> None:
    """For `upgrade`: what is held and still there can be changed again."""
    op.execute(_LET_GO)
