"""The quarantine in Postgres."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final, Protocol

from abacus.core.clock import Clock
from abacus.core.errors import Reason
from abacus.platform.metrics import QUARANTINED
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.quarantine.types import HeldItem, Item, Stage

HELD: Final = "held"
REPLAYED: Final = "replayed"

_LARGEST_REPLAYED: Final = 180 * 1024  # in base64 still within SQS' 256 KiB

_COLUMNS: Final = "stage, origin, reason, detail, body, key, fingerprint, posted_fingerprint"

# An item that comes back after a replay is held again; one that is set aside twice because of a crash changes nothing.
_ADD: Final = f"""
insert into quarantine as q (id, {_COLUMNS}, status, set_aside_at)
select u.*, 'held', $10
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::text[], $8::text[], $9::text[])
    as u (id, {_COLUMNS})
order by u.id
on conflict (id) do update
    set status = 'held', reason = excluded.reason, detail = excluded.detail, set_aside_at = excluded.set_aside_at,
        fingerprint = excluded.fingerprint, posted_fingerprint = excluded.posted_fingerprint
    where q.status <> 'held'
"""


class QuarantinePort(Protocol):
    """Where items are put that cannot be processed."""

    async def add(self, items: Sequence[Item]) -> None:
        """Returns when every item is kept. Raises `Unavailable`."""
        ...


class QuarantineStore:
    """`QuarantinePort` on Postgres, and what a person does with the items."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def add(self, items: Sequence[Item]) -> None:
        unique = list({item.id: item for item in items}.values())
        if not unique:
            return
        async with passing_failures():
            await self._pool.execute(
                _ADD,
                [item.id for item in unique],
                [str(item.stage) for item in unique],
                [_storable(item.origin) for item in unique],
                [str(item.reason) for item in unique],
                [_storable(item.detail) for item in unique],
                [item.body for item in unique],
                [_storable(item.key) for item in unique],
                [item.fingerprint for item in unique],
                [item.posted_fingerprint for item in unique],
                self._clock.now(),
            )
        for item in unique:
            QUARANTINED.labels(str(item.stage), str(item.reason)).inc()

    async def list(
        self, *, status: str | None = HELD, reason: Reason | None = None, limit: int = 100
    ) -> Sequence[HeldItem]:
        """The newest items first."""
        async with passing_failures():
            rows = await self._pool.fetch(
                "select * from quarantine where ($1::text is null or status = $1)"
                " and ($2::text is null or reason = $2) order by set_aside_at desc, id limit $3",
                status,
                reason,
                limit,
            )
        return [_held(row) for row in rows]

    async def counts(self, *, status: str = HELD, since: datetime | None = None) -> dict[Reason, int]:
        async with passing_failures():
            rows = await self._pool.fetch(
                "select reason, count(*) from quarantine where status = $1"
                " and ($2::timestamptz is null or set_aside_at >= $2) group by reason order by reason",
                status,
                since,
            )
        return {Reason(reason): count for reason, count in rows}

    async def get(self, id_: str) -> HeldItem | None:
        async with passing_failures():
            row = await self._pool.fetchrow("select * from quarantine where id = $1", id_)
        return _held(row) if row else None

    @asynccontextmanager
    async def replaying(
        self,
        *,
        ids: Sequence[str] = (),
        reason: Reason | None = None,
        set_aside_before: datetime | None = None,
        limit: int = 100,
    ) -> AsyncIterator[Sequence[HeldItem]]:
        """Held items, marked as replayed when the block ends well: send them on inside it.

        What is larger than a queue takes stays held: it was never a transaction.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(
                "select * from quarantine where status = 'held' and (cardinality($1::text[]) = 0 or id = any($1))"
                " and ($2::text is null or reason = $2) and octet_length(body) <= $4"
                " and ($5::timestamptz is null or set_aside_at < $5)"
                " order by set_aside_at, id limit $3 for update skip locked",
                list(ids),
                reason,
                limit,
                _LARGEST_REPLAYED,
                set_aside_before,
            )
            # Marked before they are sent, in the same transaction: if one is refused again at once, its row is
            # written after ours and ends as held.
            await connection.execute(
                "update quarantine set status = 'replayed', replayed_at = $2, replays = replays + 1 where id = any($1)",
                [row["id"] for row in rows],
                self._clock.now(),
            )
            yield [_held(row) for row in rows]


def _held(row: Any) -> HeldItem:
    item = Item(
        Stage(row["stage"]),
        row["origin"],
        Reason(row["reason"]),
        row["detail"],
        bytes(row["body"]),
        row["key"],
        row["fingerprint"],
        row["posted_fingerprint"],
    )
    return HeldItem(item, row["status"], row["set_aside_at"], row["replayed_at"], row["replays"])


def _storable(text: Any) -> Any:
    """Postgres keeps every character but one, and UTF-8 has no lone surrogates."""
    if text is None:
        return None
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
