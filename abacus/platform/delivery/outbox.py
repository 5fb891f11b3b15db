"""A table of deliveries in Postgres: each is taken by one process at a time, and kept with its outcome.

In a ledger in slices each delivery lies with its member, and slices whose servers are away are passed over. The rows of
paces are not cut: deliveries at a pace are taken through the coordinator. Statements that write to several deliveries
lock them in the order of their keys.
"""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.platform import slices
from abacus.platform.delivery.types import LEASE, Backlog, DeliveryOutcome, Lease, LeasedClaim, Room, Settled
from abacus.platform.pace.decide.pace import Pace, Slots
from abacus.platform.pace.turns import Turns
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Statement, arrays, columns, unnested

_RNG: Final = random.Random()

# For tables that say since when a delivery fails.
FAILING_SINCE: Final = """,
    failing_since = case when s.outcome <> 'delivered' then coalesce(t.failing_since, :now::timestamptz) end"""

log = structlog.get_logger(__name__)


class OutboxTable(NamedTuple):
    """The columns of a table of deliveries; `member_id`, `due_at` and `attempts` have the same names in all.

    `key` has the columns of the primary key, and `row` the columns of which a claim is made. Deliveries with the same
    value in `lane` share a room and a pace. At the time in `lease` another process may take the delivery. `settles`
    sets more columns.
    """

    name: str
    key: type[tuple[Any, ...]]
    row: tuple[str, ...]
    lane: str
    delivered_at: str
    given_up_at: str
    reason: str
    lease: str = "due_at"
    waiting_since: str = "created_at"
    settles: str = ""

    @property
    def is_open(self) -> str:
        """The condition of deliveries that are not settled for good."""
        return f"{self.delivered_at} is null and {self.given_up_at} is null"

    @property
    def is_due(self) -> str:
        due = f"{self.is_open} and due_at <= :now"
        return due if self.lease == "due_at" else f"{due} and ({self.lease} is null or {self.lease} <= :now)"


class Lane(NamedTuple):
    """Deliveries that share a room, as that of `receiver`. Lanes with the same `paced_as` share a pace."""

    name: str
    receiver: str
    pace: Pace | None = None
    paced_as: str = ""


class Taken(NamedTuple):
    """A row that was just taken, out of which a claim is made."""

    lane: str
    row: Sequence[Any]
    attempts: int
    lease: Lease
    start_at: datetime


class _Free(NamedTuple):
    """How many deliveries of a lane may be taken."""

    lane: str
    free: int


class _Settlement(NamedTuple):
    """The result of one attempt, beside the key of its row."""

    lease_until: datetime
    outcome: DeliveryOutcome
    status: int | None
    retry_at: datetime | None
    reason: str | None


class _PutBack(NamedTuple):
    """A claim that was not attempted, beside the key of its row, and when it is due again."""

    lease_until: datetime
    again_at: datetime


class _Statements(NamedTuple):
    due: Statement
    take: Statement
    put_back: Statement
    settle: Statement
    backlogs: Statement
    backlogs_of: Statement


ClaimT = TypeVar("ClaimT", bound=LeasedClaim)


class Outbox(Generic[ClaimT]):
    """`Deliveries` in a table. Every method raises `Unavailable` while the database is away."""

    def __init__(self, table: OutboxTable, pool: Pool, clock: Clock, *, lease: timedelta = LEASE) -> None:
        self._table = table
        self._statements = _statements(table)
        self._pool = pool
        self._clock = clock
        self._lease = lease

    async def take(self, room: Room, lanes: Collection[Lane], claim: Callable[[Taken], ClaimT]) -> Sequence[ClaimT]:
        """Takes from each lane what it has room and turns for, longest due first; one slice after the other, in an
        order of chance, until the room is full.
        """
        if not lanes:
            return []
        in_turn = list(await slices.slices_of(self._pool))
        _RNG.shuffle(in_turn)
        taken: list[ClaimT] = []
        for each in in_turn:
            try:
                more = await slices.unless_away(self._pool, self._take_in(each, lanes, room.without(taken)))
                taken += map(claim, more or ())
            except Unavailable:
                if taken:
                    break  # these would wait for their lease to end
                raise
            if len(taken) >= room.most:
                break
        return taken

    async def settle(self, settled: Sequence[Settled[ClaimT]]) -> None:
        """Writes verdicts down. Deliveries of a slice whose server is away are attempted again when it is back."""
        member_of = attrgetter("claim.lease.member_id")
        found = await slices.split(self._pool, settled, self._settle_in, member_of=member_of)
        if found.waiting:
            why = str(found.errors[0])
            log.warning("attempted again", table=self._table.name, deliveries=len(found.waiting), why=why)

    async def put_back(self, claims: Sequence[tuple[ClaimT, datetime]]) -> None:
        """Puts claims back that are not to be attempted now, each until a time. They have all their time again."""
        if claims:
            await slices.split(self._pool, claims, self._put_back_in, member_of=lambda each: each[0].lease.member_id)

    async def backlogs(self, lanes: Sequence[str] | None = None) -> Mapping[str, Backlog]:
        """The deliveries that wait in these lanes, or in all, in slices whose servers can be reached."""
        now, statements = self._clock.now(), self._statements
        of_all = lanes is None
        reading = statements.backlogs(now=now) if of_all else statements.backlogs_of(lanes=lanes, now=now)
        backlogs = dict.fromkeys(lanes or (), Backlog(0, None))
        for lane, waiting, oldest in await slices.rows_in_reach(self._pool, reading):
            known = backlogs.get(lane, Backlog(0, None))
            backlogs[lane] = Backlog(known.deliveries + waiting, min(oldest, known.oldest or oldest))
        return backlogs

    async def _take_in(self, slice_: slices.Slice, lanes: Collection[Lane], room: Room) -> list[Taken]:
        now = self._clock.now()
        if all(lane.pace is None for lane in lanes):
            async with slice_.at() as near:
                return await self._take(near, lanes, room, now)
        async with slice_.at() as near:
            rows = await near.fetch(*self._statements.due(lanes=[lane.name for lane in lanes], now=now))
        due = {row["lane"] for row in rows}
        if not due:
            return []
        async with slice_.through() as connection, connection.transaction():
            return await self._take(connection, [lane for lane in lanes if lane.name in due], room, now)

    async def _take(self, connection: Connection, lanes: Collection[Lane], room: Room, now: datetime) -> list[Taken]:
        """Locks the turns of paces in their order, so that no two processes wait for each other."""
        turns: dict[str, Turns] = {}
        slots: dict[str, Slots] = {}  # by lane
        free_of: list[_Free] = []
        for lane in sorted(lanes, key=lambda each: (each.paced_as, _RNG.random())):
            free = min(room.most, room.per_receiver - room.busy.get(lane.receiver, 0))
            if lane.pace is not None and free > 0:
                if lane.paced_as in turns:
                    continue  # another lane has the turns this time
                turns[lane.paced_as] = Turns(connection, lane.paced_as)
                slots[lane.name] = await turns[lane.paced_as].offered(lane.pace, now, free)
                free = slots[lane.name].turns
            if free > 0:
                free_of.append(_Free(lane.name, free))
        taken = await self._taken(connection, free_of, slots, room, now) if free_of else []
        for lane in lanes:
            if lane.name in slots:
                await turns[lane.paced_as].take(slots[lane.name], sum(each.lane == lane.name for each in taken))
        return taken

    async def _taken(
        self, connection: Connection, free_of: Sequence[_Free], slots: Mapping[str, Slots], room: Room, now: datetime
    ) -> list[Taken]:
        until, started = now + self._lease, dict[str, int]()
        taking = self._statements.take(**arrays(_Free, free_of), most=room.most, now=now, leased_until=until)
        taken = list[Taken]()
        for lane, _, member_id, attempts, *rest in sorted(await connection.fetch(*taking), key=_due_at):
            key, row = tuple(rest[: self._key_columns]), rest[self._key_columns :]
            start_at = slots[lane].after(started.get(lane, 0)) if lane in slots else now
            started[lane] = started.get(lane, 0) + 1
            taken.append(Taken(lane, row, attempts, Lease(key, member_id, until), start_at))
        return taken

    async def _settle_in(self, slice_: slices.Slice, settled: Sequence[Settled[ClaimT]]) -> None:
        settlements = [
            _Settlement(claim.lease.until, verdict.outcome, answer.status, verdict.retry_at, verdict.reason)
            for claim, answer, verdict in settled
        ]
        keys = arrays(self._table.key, [each.claim.lease.key for each in settled])
        statement = self._statements.settle(**keys, **arrays(_Settlement, settlements), now=self._clock.now())
        async with slice_.at() as near:
            await near.execute(*statement)

    async def _put_back_in(self, slice_: slices.Slice, claims: Sequence[tuple[ClaimT, datetime]]) -> None:
        keys = arrays(self._table.key, [claim.lease.key for claim, _ in claims])
        backs = arrays(_PutBack, [_PutBack(claim.lease.until, again_at) for claim, again_at in claims])
        async with slice_.at() as near:
            await near.execute(*self._statements.put_back(**keys, **backs))

    @property
    def _key_columns(self) -> int:
        return len(self._table.key._fields)  # type: ignore[attr-defined]  # no type says "a named tuple"


def _due_at(record: Sequence[Any]) -> datetime:
    due_at: datetime = record[1]
    return due_at


@cache
def _statements(table: OutboxTable) -> _Statements:
    key, same = columns(table.key), f"({columns(table.key, 't')}) = ({{}})"
    due = Statement(f"""
        select u.lane from unnest(:lanes::text[]) as u (lane)
        where exists (select from {table.name} where {table.lane} = u.lane and {table.is_due})
    """)
    # Of each lane the deliveries that are due longest, as many as it has room for.
    take = Statement(f"""
        with due as materialized (
            select each.*
            from {unnested(_Free)}
            cross join lateral (
                select {key}, due_at from {table.name}
                where {table.lane} = u.lane and {table.is_due}
                order by due_at limit u.free for update skip locked
            ) as each
            order by each.due_at limit :most
        )
        update {table.name} t set {table.lease} = :leased_until, attempts = t.attempts + 1
        from due where {same.format(columns(table.key, "due"))}
        returning t.{table.lane}, due.due_at, t.member_id, t.attempts, {columns(table.key, "t")},
            {", ".join(f"t.{column}" for column in table.row)}
    """)
    released = "due_at" if table.lease == "due_at" else f"{table.lease} = null, due_at"
    failing = ", failing_since = null" if table.settles == FAILING_SINCE else ""
    put_back = Statement(f"""
        with back as materialized (
            select * from {unnested(table.key, _PutBack)}
        ), locked as materialized (
            select {key} from {table.name} where ({key}) in (select {key} from back) order by {key} for update
        )
        update {table.name} t set {released} = s.again_at, attempts = 0{failing}
        from back s join locked using ({key})
        where {same.format(columns(table.key, "s"))} and s.lease_until = t.{table.lease}
    """)
    # A failure counts unless another process has taken the delivery by now. What was given up meanwhile stays so. No
    # condition is about the table alone, even where it could be: for a table that was not analysed the planner expects
    # one row, and would compare all with all.
    settle = Statement(f"""
        with settled as materialized (
            select * from {unnested(table.key, _Settlement)}
        ), locked as materialized (
            select {key} from {table.name} where ({key}) in (select {key} from settled) order by {key} for update
        )
        update {table.name} t set
            {released} = coalesce(s.retry_at, t.due_at),
            {table.delivered_at} = case when s.outcome = 'delivered' then :now::timestamptz end,
            {table.given_up_at} = case
                when s.outcome in ('given_up', 'gone') then coalesce(t.{table.given_up_at}, :now::timestamptz)
                when s.outcome = 'retried' then t.{table.given_up_at}
            end,
            {table.reason} = s.reason{table.settles}
        from settled s join locked using ({key})
        where {same.format(columns(table.key, "s"))}
            and case when t.{table.delivered_at} is null then s.outcome = 'delivered'
                or t.{table.lease} = s.lease_until end
    """)
    waiting = f"{table.is_open} and {table.waiting_since} <= :now"
    backlog = f"select {table.lane}, count(*), min({table.waiting_since}) from {table.name} where {waiting}"
    return _Statements(
        due,
        take,
        put_back,
        settle,
        backlogs=Statement(f"{backlog} group by {table.lane}"),
        backlogs_of=Statement(f"{backlog} and {table.lane} = any(:lanes::text[]) group by {table.lane}"),
    )
