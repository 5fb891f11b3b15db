"""Publishing changes of tier, out of the table that the decision wrote them to, in the order of each account.

A slice's changes are read at its server, and marked through the session that has the lease, at the coordinator.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.platform.following.leader import Leader
from abacus.platform.following.lease import beside, still_held
from abacus.platform.following.lease_share import Share
from abacus.platform.following.row_publisher import Batch, Meter, Publisher, RowPublisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import CLOUD_EVENT, StreamMessage
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement, arrays, columns, unnested
from abacus.programs.tiers.decide.events import encode_tier_changed
from abacus.programs.tiers.decide.tier_change import Change
from abacus.programs.tiers.metrics import TIERS_BEHIND, TIERS_PUBLISHED

_BATCH: Final = 1000
IDLE_S: Final = 0.2


class ChangeKey(NamedTuple):
    """Names a change: `n` counts an account's changes."""

    member_id: str
    program: str
    n: int


_START: Final = ChangeKey("", "", 0)


def _next(table: str, batch: int) -> Statement:
    # Deciding locks the account, so a change is never visible before an earlier one.
    return Statement(f"""
    select {columns(Change)} from {table}
    where published_at is null and (member_id, program, n) > (:member_id, :program, :n)
    order by member_id, program, n
    limit {batch}
    """)


def _published(table: str) -> Statement:
    return Statement(f"""
    update {table} c set published_at = :now
    from {unnested(ChangeKey)}
    where c.member_id = u.member_id and c.program = u.program and c.n = u.n
    """)


class UnpublishedChanges:
    """A slice's changes, or all where the ledger is not cut. A batch is marked by the keys of its changes. A round goes
    through the members and begins anew, so that nobody waits for ever.
    """

    def __init__(self, pool: Pool, schema: str | None, clock: Clock, *, batch: int = _BATCH) -> None:
        table = f"{schema}.tier_change" if schema else "tier_change"
        self._pool = pool
        self._schema = schema
        self._clock = clock
        self._next = _next(table, batch)
        self._published = _published(table)
        self._after = _START

    async def next(self, connection: Connection) -> Batch[Sequence[ChangeKey]] | None:
        async with beside(self._pool, self._schema, connection) as near:
            changes = await self._behind(near, self._after)
            if not changes and self._after != _START:
                changes = await self._behind(near, _START)
        if not changes:
            self._after = _START
            return None
        if near is not connection:
            await still_held(connection)
        since = min(change.changed_at for change in changes)
        keys = [ChangeKey(change.member_id, change.program, change.n) for change in changes]
        return Batch([_message(change) for change in changes], since, keys)

    async def published(self, connection: Connection, mark: Sequence[ChangeKey]) -> None:
        await connection.execute(*self._published(**arrays(ChangeKey, mark), now=self._clock.now()))
        self._after = mark[-1]

    async def _behind(self, connection: Connection, key: ChangeKey) -> list[Change]:
        rows = await connection.fetch(*self._next(**key._asdict()))
        return [Change(*row) for row in rows]


def _message(change: Change) -> StreamMessage:
    return StreamMessage(change.member_id.encode(), encode_tier_changed(change), CLOUD_EVENT)


def change_publisher(
    pool: Pool,
    publisher: Publisher,
    topic: str,
    clock: Clock,
    health: WorkerHealth,
    *,
    schema: str | None = None,
    share: Share | None = None,
    idle_s: float = IDLE_S,
    batch: int = _BATCH,
) -> Leader:
    """Publishes on one topic: changes of a slice, or of the whole ledger where it is not cut. One publishes them at a
    time, or an older change might follow a newer one.
    """
    source = UnpublishedChanges(pool, schema, clock, batch=batch)
    behind = Meter(TIERS_PUBLISHED, TIERS_BEHIND.labels(schema or "whole"))
    publishing = RowPublisher(source, publisher, topic, clock, behind)
    return publishing.led(pool, lease_of(topic, schema), health, idle_s=idle_s, share=share)


def lease_of(topic: str, schema: str | None = None) -> str:
    return f"abacus tiers {topic}" + (f" {schema}" if schema else "")
