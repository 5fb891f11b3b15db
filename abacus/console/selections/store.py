"""Selections in Postgres. One is never changed: what is set aside later is in none that was made before."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters

MOST: Final = 1000  # items of a selection


class Selection(NamedTuple):
    """Items by their ids. `chosen` says in words how they were."""

    selection_id: UUID
    chosen: str
    items: list[str]
    made_by: str
    made_at: datetime


_FREEZE: Final = Statement(f"""
insert into console_selection ({columns(Selection)}) values ({parameters(Selection)})
on conflict (selection_id) do nothing
""")
_FIND: Final = Statement(f"select {columns(Selection)} from console_selection where selection_id = :selection_id")


class SelectionStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def freeze(self, selection_id: UUID, chosen: str, items: Sequence[str], by: str) -> None:
        """The same id a second time changes nothing."""
        row = Selection(selection_id, chosen, list(items), by, self._clock.now())
        async with passing_failures():
            await self._pool.execute(*_FREEZE(**row._asdict()))

    async def find(self, selection_id: UUID) -> Selection | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(selection_id=selection_id))
        return Selection(*row) if row else None
