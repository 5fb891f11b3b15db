"""Calls of webhooks that campaigns have decided, in Postgres: one process takes each at a time, at the pace of its
host.

That pace is one row for all slices, which is not cut: a slice's calls are taken through the coordinator, when there are
any; they are settled at its server.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import structlog

from abacus.core.clock import Clock
from abacus.core.ids import fingerprint
from abacus.engage.actions.action_store import DueAction
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.downstreams.decide.downstream import WEBHOOK_PREFIX, Downstream, Kind
from abacus.engage.downstreams.directory import ByName
from abacus.platform.delivery.round import taken_round
from abacus.platform.delivery.types import LEASE, Backlog, DeliveryOutcome, Room, Settled
from abacus.platform.pace.decide.pace import Slots
from abacus.platform.pace.turns import Turns
from abacus.platform.postgres import Connection, Pool, passing_failures, rows_changed
from abacus.platform.slices.sliced import all_rows_in_reach, at_slice, slicing_of, unless_away
from abacus.platform.sql import Statement, arrays, columns, unnested

_ID_DIGITS: Final = 40
_RNG: Final = random.Random()

log = structlog.get_logger(__name__)


class Call(NamedTuple):
    """A call that this process has taken."""

    waiting: DueAction
    receiver: str  # the webhook's name
    attempts: int
    failing_since: datetime | None

    @property
    def id(self) -> str:
        return call_id(self.waiting.key, self.waiting.number)


def call_id(key: str, number: int) -> str:
    """The id of a call, from the key of its effect and its number there. Keys may hold what no header carries."""
    return f"cmp_{fingerprint((key, str(number)))[:_ID_DIGITS]}"


class _Free(NamedTuple):
    """How many calls of a receiver may be taken."""

    receiver: str
    free: int


class _Settlement(NamedTuple):
    """The result of one attempt, as it is written to its row. `attempts` identifies the claim."""

    member_id: str
    key: str
    number: int
    attempts: int
    outcome: DeliveryOutcome
    retry_at: datetime | None
    reason: str | None


class _Given(NamedTuple):
    """The turns of a host, which a webhook has this time."""

    webhook: str
    turns: Turns
    slots: Slots


_OPEN: Final = "done_at is null and refused_at is null"
_DUE: Final = Statement(f"""
select u.receiver from unnest(:receivers::text[]) as u (receiver)
where exists (
    select from campaign_action a where a.receiver = u.receiver and {_OPEN} and due_at <= :now
)
order by u.receiver
""")
_TAKE: Final = Statement(f"""
with due as materialized (
    select each.member_id, each.key, each.number
    from {unnested(_Free)}
    cross join lateral (
        select member_id, key, number, due_at from campaign_action
        where receiver = u.receiver and {_OPEN} and due_at <= :now
        order by due_at limit u.free for update skip locked
    ) as each
    order by each.due_at limit :most
), taken as (
    update campaign_action c set due_at = :leased_until, attempts = c.attempts + 1
    from due where c.member_id = due.member_id and c.key = due.key and c.number = due.number
    returning {columns(DueAction, "c")}, c.receiver, c.attempts, c.failing_since
)
select * from taken
""")
# A failure counts unless another process has taken the call by now.
_SETTLE: Final = Statement(f"""
update campaign_action a set
    done_at = case when u.outcome = 'delivered' then :now::timestamptz end,
    refused_at = case when u.outcome in ('given_up', 'gone') then :now::timestamptz end,
    failing_since = case when u.outcome <> 'delivered' then coalesce(a.failing_since, :now::timestamptz) end,
    due_at = coalesce(u.retry_at, a.due_at),
    reason = u.reason
from {unnested(_Settlement)}
where a.member_id = u.member_id and a.key = u.key and a.number = u.number
    and case when a.done_at is null then u.outcome = 'delivered' or a.attempts = u.attempts end
""")
_BACKLOG: Final = Statement(f"""
select receiver, count(*), min(due_at) from campaign_action
where receiver = any(:receivers::text[]) and {_OPEN} and due_at <= :now group by receiver
""")
_AGAIN: Final = Statement(f"""
update campaign_action set refused_at = null, reason = null, due_at = :now, attempts = 0, failing_since = null
where receiver = :receiver and kind = '{DeedKind.CALL}' and refused_at is not null and failing_since is not null
""")


class CallStore:
    """`Deliveries` of calls. Every method raises `Unavailable` while the database is away."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        webhooks: Callable[[], Mapping[str, Downstream]],
        *,
        lease: timedelta = LEASE,
    ) -> None:
        """`webhooks` has all that there ever were, by name."""
        self._pool = pool
        self._clock = clock
        self._webhooks = webhooks
        self._lease = lease

    async def take(self, room: Room) -> Sequence[Call]:
        """Takes from each webhook as many calls as it has room and turns for. Those of slices whose servers are away
        wait.
        """
        webhooks = {WEBHOOK_PREFIX + name: webhook for name, webhook in self._webhooks().items()}
        if not webhooks:
            return []
        return await taken_round(self._pool, room, lambda number, free: self._take_in(number, webhooks, free))

    async def settle(self, settled: Sequence[Settled[Call]]) -> None:
        """Calls of a slice whose server is away are made again when it is back."""
        settlements = [
            _Settlement(
                member_id=call.waiting.member_id,
                key=call.waiting.key,
                number=call.waiting.number,
                attempts=call.attempts,
                outcome=verdict.outcome,
                retry_at=verdict.retry_at,
                reason=verdict.reason,
            )
            for call, _, verdict in settled
        ]
        parts = (await slicing_of(self._pool)).by_slice(settlements, lambda each: each.member_id)
        for number, part in parts.items():
            if await unless_away(self._pool, self._settle_in(number, part)) is None:
                log.warning("calls are made again", calls=len(part), why=f"the server of slice {number} is away")

    async def backlogs(self) -> Mapping[str, Backlog]:
        """The calls that are due, by receiver, in those slices whose servers can be reached."""
        receivers = [WEBHOOK_PREFIX + name for name in self._webhooks()]
        statement = _BACKLOG(receivers=receivers, now=self._clock.now())
        backlogs = dict.fromkeys(receivers, Backlog(0, None))
        for receiver, calls, oldest in await all_rows_in_reach(self._pool, statement):
            known = backlogs[receiver]
            backlogs[receiver] = Backlog(known.deliveries + calls, min(oldest, known.oldest or oldest))
        return backlogs

    async def _take_in(self, number: int, webhooks: Mapping[str, Downstream], room: Room) -> Sequence[Call]:
        now = self._clock.now()
        async with passing_failures(), at_slice(self._pool, number) as connection:
            rows = await connection.fetch(*_DUE(receivers=sorted(webhooks), now=now))
        due = {row["receiver"]: webhooks[row["receiver"]] for row in rows}
        if not due:
            return []
        home = (await slicing_of(self._pool)).home(number)
        async with passing_failures(), self._pool.acquire(schema=home) as connection, connection.transaction():
            return await self._take(connection, due, room, now)

    async def _settle_in(self, number: int, settlements: Sequence[_Settlement]) -> bool:
        statement = _SETTLE(**arrays(_Settlement, settlements), now=self._clock.now())
        async with passing_failures(), at_slice(self._pool, number) as connection:
            await connection.execute(*statement)
        return True

    async def _take(
        self, connection: Connection, webhooks: Mapping[str, Downstream], room: Room, now: datetime
    ) -> list[Call]:
        """Locks the turns of hosts in their order, so that no two processes wait for each other."""
        given: dict[str, _Given] = {}
        room_of: list[_Free] = []
        for receiver, webhook in sorted(webhooks.items(), key=lambda each: (each[1].paced_as, _RNG.random())):
            free = min(room.most, room.per_receiver - room.busy.get(webhook.name, 0))
            if webhook.pace is not None and free > 0:
                if webhook.paced_as in given:
                    continue  # another webhook of the host has the turns this time
                turns = Turns(connection, webhook.paced_as)
                slots = await turns.offered(webhook.pace, now, free)
                given[webhook.paced_as] = _Given(webhook.name, turns, slots)
                free = slots.turns
            if free > 0:
                room_of.append(_Free(receiver, free))
        taking = _TAKE(**arrays(_Free, room_of), most=room.most, now=now, leased_until=now + self._lease)
        rows = await connection.fetch(*taking)
        calls = [_call(row) for row in rows]
        for name, turns, slots in given.values():
            await turns.take(slots, sum(call.receiver == name for call in calls))
        return calls


def webhooks_of(downstreams: ByName) -> dict[str, Downstream]:
    """Those that are webhooks, by name."""
    return {name: each.downstream for name, each in downstreams.items() if each.downstream.kind is Kind.WEBHOOK}


async def call_again(pool: Pool, webhook: str, now: datetime) -> int:
    """Makes the calls of a webhook that were given up due now, and returns how many. Raises `Unavailable`."""
    again, changed = _AGAIN(receiver=WEBHOOK_PREFIX + webhook, now=now), 0
    async with passing_failures():
        for number in range((await slicing_of(pool)).slices):
            async with at_slice(pool, number) as connection:
                changed += await rows_changed(connection, again)
    return changed


def _call(row: Sequence[Any]) -> Call:
    *waiting, receiver, attempts, failing_since = row
    return Call(DueAction(*waiting), receiver.removeprefix(WEBHOOK_PREFIX), attempts, failing_since)
