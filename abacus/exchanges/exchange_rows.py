"""Rows of exchanges, their trail, and what was used of limits: statements, and what is written together.

All lie on one server, also where the ledger is cut. A writer of points and rows locks standings first, then uses,
then accounts. A change is written to the row that it was decided of; a row that has changed meanwhile stays as it is.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from abacus.exchanges.decide.caps import UNCOUNTED, MemberUse, Use
from abacus.exchanges.decide.exchange import ASKED, ENDED, Exchange, State, Turn
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.decide.quote import Usual
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import Narrowed, Statement, arrays, columns, unnested

_COLUMNS: Final = columns(Exchange)
_OF_USUAL: Final = 10_000  # the newest credits: more tell nothing more
_UNCOUNTED: Final = ", ".join(f"'{each}'" for each in UNCOUNTED)

# What needs no partner.
OURS: Final = (
    State.REVIEW,
    State.CREDITED,
    State.REJECTED,
    State.CANCELLED,
    State.TAKEN_BACK,
    State.RESERVED,
    State.COMMITTED,
)


class Step(NamedTuple):
    """An exchange as it was read, and as it is to be, by way of rows of its trail."""

    before: Exchange
    after: Exchange
    turns: Sequence[Turn] = ()


class Which(NamedTuple):
    """The exchanges of a list: of a member, of a programme, in states, in countries, asked for by a source, and with a
    partner's reference. A quote that nobody has converted is none.
    """

    member_id: str | None = None
    programme: str | None = None
    states: Sequence[State] = ASKED
    countries: Sequence[str] | None = None
    source: str | None = None
    reference: str | None = None


class Place(NamedTuple):
    """Where a list goes on: behind this exchange, the newest first."""

    quoted_at: datetime
    exchange_id: UUID


class Counted(NamedTuple):
    """A member's exchanges to be added up: those of the month, and of the day."""

    member_id: str
    programme: str
    direction: str
    day_begins: datetime
    month_begins: datetime


class _Written(NamedTuple):
    exchange_id: UUID
    was: str
    was_turns: int
    key: str | None
    actor: str
    source: str
    state: str
    reason: str | None
    detail: str | None
    reference: str | None
    asked_at: datetime | None
    sent_at: datetime | None
    credited_at: datetime | None
    ended_at: datetime | None
    changed_at: datetime
    due_at: datetime | None
    late_at: datetime | None
    attempts: int
    turns: int


class _Pieces(NamedTuple):
    """A row of `exchange_use`, or a change of one."""

    owner: str
    direction: str
    period: str
    points: int


_SET: Final = ", ".join(f"{each} = u.{each}" for each in _Written._fields[3:])
_ENTER: Final = Statement(f"""
insert into exchange ({_COLUMNS}) select u.* from {unnested(Exchange)} order by u.exchange_id on conflict do nothing
returning exchange_id
""")
_WRITE: Final = Statement(f"""
update exchange e set {_SET} from {unnested(_Written)}
where e.exchange_id = u.exchange_id and e.state = u.was and e.turns = u.was_turns returning e.exchange_id
""")
_TELL: Final = Statement(f"""
insert into exchange_turn ({columns(Turn)}) select u.* from {unnested(Turn)} on conflict do nothing
""")
_OF_IDS: Final = Statement(f"select {_COLUMNS} from exchange where exchange_id = any(:ids::uuid[])")
_OF_KEYS: Final = Statement(f"select {_COLUMNS} from exchange where key = any(:keys::text[])")
_LOCK: Final = Statement(f"""
select {_COLUMNS} from exchange where exchange_id = any(:ids::uuid[]) order by exchange_id for update
""")
_DUE: Final = Statement(f"""
select {_COLUMNS} from exchange where programme = :programme and due_at <= :now order by due_at limit :most
for update skip locked
""")
_DUE_OF_OURS: Final = Statement(f"""
select {_COLUMNS} from exchange
where programme = :programme and state = any(:states::text[]) and ended_at is null and due_at <= :now
limit :most for update skip locked
""")
# Each name is found by one look into the index, however many rows it has.
_DUE_PROGRAMMES: Final = Statement("""
with recursive found (programme) as (
    (select programme from exchange where due_at is not null order by programme limit 1)
    union all
    select (select e.programme from exchange e where e.due_at is not null and e.programme > f.programme
        order by e.programme limit 1)
    from found f where f.programme is not null
)
select f.programme from found f where f.programme is not null
    and exists (select from exchange e where e.programme = f.programme and e.due_at <= :now)
""")
_ALL_PROGRAMMES: Final = Statement("""
with recursive found (programme) as (
    (select programme from exchange order by programme limit 1)
    union all
    select (select e.programme from exchange e where e.programme > f.programme order by e.programme limit 1)
    from found f where f.programme is not null
)
select f.programme from found f where f.programme is not null
""")
_TRAIL: Final = Statement(f"select {columns(Turn)} from exchange_turn where exchange_id = :id order by n")
_LIST: Final = Narrowed(
    f"select {_COLUMNS} from exchange {{where}} order by quoted_at desc, exchange_id desc limit :most",
    member_id="member_id = :member_id",
    programme="programme = :programme",
    states="state = any(:states::text[])",
    ended="state = :ended and ended_at is not null",
    countries="country = any(:countries::text[])",
    source="source = :source",
    reference="reference = :reference",
    quoted_at="(quoted_at, exchange_id) < (:quoted_at, :exchange_id::uuid)",
)
_OF_MEMBERS: Final = Statement(f"""
select u.member_id, u.programme, u.direction,
    coalesce(sum(e.points) filter (where e.asked_at >= u.day_begins), 0)::bigint, coalesce(sum(e.points), 0)::bigint
from {unnested(Counted)}
join exchange e on e.member_id = u.member_id and e.programme = u.programme and e.direction = u.direction
    and e.asked_at >= u.month_begins and e.state not in ({_UNCOUNTED})
group by u.member_id, u.programme, u.direction
""")
_LOCK_USES: Final = Statement(f"""
select r.owner, r.direction, r.period, r.points
from {unnested(Use)} join exchange_use r using (owner, direction, period)
order by u.owner, u.direction, u.period for update of r
""")
_ADD_USES: Final = Statement(f"""
insert into exchange_use as r select u.* from {unnested(_Pieces)} order by u.owner, u.direction, u.period
on conflict (owner, direction, period) do update set points = r.points + excluded.points
""")
_USABLE: Final = Statement("""
select link_id from exchange_link
where link_id = any(:ids::uuid[]) and ended_at is null and verified_at is not null and usable_from <= :now
""")
_USUAL: Final = Statement(f"""
select percentile_disc(0.5) within group (order by took) as half,
    percentile_disc(0.95) within group (order by took) as most
from (
    select credited_at - sent_at as took from exchange
    where programme = :programme and credited_at >= :since and sent_at is not null and direction = '{Direction.OUT}'
    order by credited_at desc limit {_OF_USUAL}
) latest
""")
_FORGET: Final = Statement(f"""
with over as (
    select exchange_id from exchange
    where programme = :programme and state = '{State.QUOTED}' and ended_at is null and expires_at < :before
    order by changed_at limit :most for update skip locked
)
delete from exchange e using over where e.exchange_id = over.exchange_id returning e.exchange_id
""")


def exchange_of(row: Sequence[object]) -> Exchange:
    exchange = Exchange(*row)  # type: ignore[arg-type]  # the columns of the row type
    return exchange._replace(direction=Direction(exchange.direction), state=State(exchange.state))


async def enter(connection: Pool | Connection, exchanges: Sequence[Exchange]) -> set[UUID]:
    """The ids of the exchanges that were not there."""
    return {row["exchange_id"] for row in await connection.fetch(*_ENTER(**arrays(Exchange, exchanges)))}


async def write(connection: Connection, steps: Sequence[Step]) -> set[UUID]:
    """In a transaction. Returns the ids of the rows that were still as they had been read."""
    if not steps:
        return set()
    rows = [_written(each) for each in steps]
    written = {row["exchange_id"] for row in await connection.fetch(*_WRITE(**arrays(_Written, rows)))}
    await tell(connection, [turn for each in steps if each.after.exchange_id in written for turn in each.turns])
    return written


async def tell(connection: Connection, turns: Sequence[Turn]) -> None:
    if turns:
        await connection.execute(*_TELL(**arrays(Turn, turns)))


async def of_ids(reader: Pool | Connection, ids: Collection[UUID]) -> dict[UUID, Exchange]:
    return {row["exchange_id"]: exchange_of(row) for row in await reader.fetch(*_OF_IDS(ids=list(ids)))}


async def of_keys(reader: Pool | Connection, keys: Collection[str]) -> dict[str, Exchange]:
    return {row["key"]: exchange_of(row) for row in await reader.fetch(*_OF_KEYS(keys=list(keys)))}


async def locked(connection: Connection, ids: Iterable[UUID]) -> dict[UUID, Exchange]:
    return {row["exchange_id"]: exchange_of(row) for row in await connection.fetch(*_LOCK(ids=sorted(ids)))}


async def due_programmes(reader: Pool | Connection, now: datetime) -> list[str]:
    """Of exchanges for which something is due."""
    return [row["programme"] for row in await reader.fetch(*_DUE_PROGRAMMES(now=now))]


async def all_programmes(reader: Pool | Connection) -> list[str]:
    """Of which there was ever an exchange or a quote."""
    return [row["programme"] for row in await reader.fetch(*_ALL_PROGRAMMES())]


async def due(connection: Connection, programme: str, now: datetime, most: int) -> list[Exchange]:
    """Locked until the transaction ends; what another process has locked is passed over."""
    return [exchange_of(row) for row in await connection.fetch(*_DUE(programme=programme, now=now, most=most))]


async def due_of_ours(
    connection: Connection, programme: str, now: datetime, most: int, ours: Sequence[State] = OURS
) -> list[Exchange]:
    """The same of those for which no partner is needed."""
    states = [each.value for each in ours]
    statement = _DUE_OF_OURS(programme=programme, now=now, states=states, most=most)
    return [exchange_of(row) for row in await connection.fetch(*statement)]


async def trail_of(reader: Pool | Connection, exchange_id: UUID) -> list[Turn]:
    rows = await reader.fetch(*_TRAIL(id=exchange_id))
    return [Turn(*row)._replace(state=State(row["state"])) for row in rows]


async def listed(reader: Pool | Connection, most: int, which: Which, after: Place | None = None) -> list[Exchange]:
    """The newest first. A state in which exchanges have ended is looked for by itself: an index has these in order."""
    ended = which.states[0] if len(which.states) == 1 and which.states[0] in ENDED else None
    narrowed = {
        **which._asdict(),
        "states": [each.value for each in which.states] if ended is None else None,
        "ended": ended,
        "countries": None if which.countries is None else [*which.countries],
        **({} if after is None else after._asdict()),
    }
    return [exchange_of(row) for row in await reader.fetch(*_LIST(narrowed, most=most))]


async def member_uses(
    connection: Connection, counted: Sequence[Counted]
) -> dict[tuple[str, str, Direction], MemberUse]:
    rows = await connection.fetch(*_OF_MEMBERS(**arrays(Counted, counted))) if counted else []
    return {
        (member_id, programme, Direction(direction)): MemberUse(day, month)
        for member_id, programme, direction, day, month in rows
    }


async def locked_uses(connection: Connection, uses: Collection[Use]) -> dict[Use, int]:
    """The exchanges that are there; the standings of their programmes are locked."""
    rows = await connection.fetch(*_LOCK_USES(**arrays(Use, sorted(uses))))
    return {Use(*row[:3]): row[3] for row in rows}


async def add_uses(connection: Connection, more: Mapping[Use, int]) -> None:
    pieces = [_Pieces(*use, points) for use, points in sorted(more.items()) if points]
    if pieces:
        await connection.execute(*_ADD_USES(**arrays(_Pieces, pieces)))


async def ended_links(reader: Pool | Connection, ids: Collection[UUID], now: datetime) -> set[UUID]:
    """The links among these that may not be used any more."""
    return set(ids) - {row["link_id"] for row in await reader.fetch(*_USABLE(ids=list(ids), now=now))}


async def usual_of(reader: Pool | Connection, programme: str, since: datetime) -> Usual | None:
    """None while the partner has credited nothing since."""
    row = await reader.fetchrow(*_USUAL(programme=programme, since=since))
    half: timedelta | None = row["half"]
    return None if half is None else Usual(half, row["most"])


async def forget_quotes(pool: Pool, programme: str, before: datetime, most: int) -> int:
    """Quotes that were over before, and that nobody converted."""
    return len(await pool.fetch(*_FORGET(programme=programme, before=before, most=most)))


def _written(step: Step) -> _Written:
    before, after = step.before, step.after
    return _Written(
        exchange_id=after.exchange_id,
        was=before.state,
        was_turns=before.turns,
        key=after.key,
        actor=after.actor,
        source=after.source,
        state=after.state,
        reason=after.reason,
        detail=after.detail,
        reference=after.reference,
        asked_at=after.asked_at,
        sent_at=after.sent_at,
        credited_at=after.credited_at,
        ended_at=after.ended_at,
        changed_at=after.changed_at,
        due_at=after.due_at,
        late_at=after.late_at,
        attempts=after.attempts,
        turns=after.turns,
    )
