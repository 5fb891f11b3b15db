"""Calls of webhooks that wait in Postgres: one process takes each at a time, at the pace of its
host.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.ids import fingerprint
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import DueAction
from abacus.engage.downstreams.decide.downstream import WEBHOOK_PREFIX, Downstream, DownstreamKind
from abacus.engage.downstreams.store import ByName
from abacus.platform import slices
from abacus.platform.delivery.outbox import FAILING_SINCE, Lane, Outbox, OutboxTable, Taken
from abacus.platform.delivery.types import Backlog, Lease, Room, Settled
from abacus.platform.postgres import Pool, rows_changed
from abacus.platform.sql import Statement

_ID_DIGITS: Final = 40


class Call(NamedTuple):
    """A call that this process has taken."""

    action: DueAction
    receiver: str  # the webhook's name
    attempts: int
    failing_since: datetime | None
    lease: Lease

    @property
    def id(self) -> str:
        return call_id(self.action.key, self.action.number)


def call_id(key: str, number: int) -> str:
    """The id of a call, from the key of its effect and its number there. Keys may hold what no header carries."""
    return f"cmp_{fingerprint((key, str(number)))[:_ID_DIGITS]}"


class _Key(NamedTuple):
    member_id: str
    key: str
    number: int


TABLE: Final = OutboxTable(
    "action",
    key=_Key,
    row=(*DueAction._fields, "failing_since"),
    lane="receiver",
    delivered_at="done_at",
    given_up_at="refused_at",
    reason="reason",
    waiting_since="due_at",
    settles=FAILING_SINCE,
)
_AGAIN: Final = Statement(f"""
update action set refused_at = null, reason = null, due_at = :now, attempts = 0, failing_since = null
where receiver = :receiver and kind = '{DeedKind.CALL}' and refused_at is not null and failing_since is not null
""")


class CallOutbox:
    """`Deliveries` of calls. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, webhooks: Callable[[], Mapping[str, Downstream]]) -> None:
        """`webhooks` has all that there ever were, by name."""
        self._outbox: Outbox[Call] = Outbox(TABLE, pool, clock)
        self._webhooks = webhooks

    async def take(self, room: Room) -> Sequence[Call]:
        """Takes from each webhook as many calls as it has room and turns for."""
        webhooks = self._webhooks().values()
        lanes = [Lane(WEBHOOK_PREFIX + each.name, each.name, each.pace, each.paced_as) for each in webhooks]
        return await self._outbox.take(room, lanes, _call)

    async def settle(self, settled: Sequence[Settled[Call]]) -> None:
        await self._outbox.settle(settled)

    async def backlogs(self) -> Mapping[str, Backlog]:
        """The calls that are due, by receiver."""
        return await self._outbox.backlogs([WEBHOOK_PREFIX + name for name in self._webhooks()])


def webhooks_of(downstreams: ByName) -> dict[str, Downstream]:
    """The webhooks among the downstreams, by name."""
    return {
        name: each.downstream for name, each in downstreams.items() if each.downstream.kind is DownstreamKind.WEBHOOK
    }


async def call_again(pool: Pool, webhook: str, now: datetime) -> int:
    """Makes the calls of a webhook that were given up due now, and returns how many. Raises `Unavailable`."""

    async def again(slice_: slices.Slice) -> int:
        async with slice_.at() as connection:
            return await rows_changed(connection, _AGAIN(receiver=WEBHOOK_PREFIX + webhook, now=now))

    return sum((await slices.everywhere(pool, again, patience_s=None)).whole())


def _call(taken: Taken) -> Call:
    *action, failing_since = taken.row
    receiver = taken.lane.removeprefix(WEBHOOK_PREFIX)
    return Call(DueAction(*action), receiver, taken.attempts, failing_since, taken.lease)
