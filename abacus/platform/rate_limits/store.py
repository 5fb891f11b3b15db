"""The buckets in Postgres."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, Protocol

from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.rate_limits.decide.bucket import grant
from abacus.platform.rate_limits.types import Grant, Wish
from abacus.platform.sql import Statement, arrays, columns, unnested


class Buckets(Protocol):
    """The place that all processes take tokens from."""

    async def settle(self, wishes: Sequence[Wish], now: float) -> Mapping[str, Grant]:
        """Takes and returns tokens, one wish for each id. Raises `Unavailable`, and then nothing has changed."""
        ...


class _Row(NamedTuple):
    """A row of `rate_limit`."""

    id: str
    full_at: datetime


# Each process locks in this order.
_LOCK: Final = Statement(f"select {columns(_Row)} from rate_limit where id = any(:ids::text[]) order by id for update")

_OPEN: Final = Statement(
    f"insert into rate_limit ({columns(_Row)}) select u.* from {unnested(_Row)} order by u.id on conflict do nothing"
)

_WRITE: Final = Statement(f"""
update rate_limit r set full_at = u.full_at from {unnested(_Row)} where r.id = u.id
""")


class BucketStore:
    """`Buckets` in Postgres: one transaction for all wishes of a moment."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def settle(self, wishes: Sequence[Wish], now: float) -> Mapping[str, Grant]:
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            full = await self._locked(connection, [wish.id for wish in wishes], now)
            grants = {wish.id: grant(wish, full[wish.id], now) for wish in wishes}
            rows = [_Row(id_, _moment(each.full_at)) for id_, each in grants.items()]
            await connection.execute(*_WRITE(**arrays(_Row, rows)))
        return grants

    async def _locked(self, connection: Connection, ids: Sequence[str], now: float) -> Mapping[str, float]:
        """When each bucket will be full; a bucket that is not there is made, and is full now."""
        rows = [_Row(*row) for row in await connection.fetch(*_LOCK(ids=ids))]
        if len(rows) < len(ids):
            missing = set(ids) - {row.id for row in rows}
            await connection.execute(*_OPEN(**arrays(_Row, [_Row(id_, _moment(now)) for id_ in missing])))
            rows = [_Row(*row) for row in await connection.fetch(*_LOCK(ids=ids))]
        return {row.id: row.full_at.timestamp() for row in rows}


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
