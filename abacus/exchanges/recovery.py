"""After the house was restored: what partners have credited since the backup is read from their statements, and an id
that the house has lost becomes a hold and a capture. Where the member's points are gone since, or the partner does not
say whose it was, or says what cannot be, it is a break.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable
from abacus.exchanges.alone import alone
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.caps import Use, uses_of
from abacus.exchanges.decide.exchange import Exchange, Turn
from abacus.exchanges.decide.heard import Credited
from abacus.exchanges.decide.matching import Break, BreakKind
from abacus.exchanges.decide.movements import hold_of
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import ByFile, Programme
from abacus.exchanges.decide.recalled import RESTORED, Owner, doubt, remade, version_in
from abacus.exchanges.exchange_rows import add_uses, enter, of_ids, tell
from abacus.exchanges.hearing import Hearing, Said
from abacus.exchanges.position_rows import Standing, locked_standings, write_entries
from abacus.exchanges.settler import BY, MovesBeside, entry_of
from abacus.exchanges.timeline import Timelines
from abacus.exchanges.types import Recalled, RecallingPartner, StatementLine, StatementState
from abacus.ledger.types.movement import Declined, Moved, Movement
from abacus.ledger.types.port import Status
from abacus.platform.postgres import Connection, Pool, passing_failures

_AGAIN: Final = timedelta(minutes=1)

# A programme in a version that was in force, if this house has it. Raises `Unavailable`.
FoundVersion = Callable[[str, int], Awaitable[Programme | None]]
# Whose a partner's number is. Raises `Unavailable`.
OwnerOf = Callable[[str, str], Awaitable[Owner | None]]

log = structlog.get_logger(__name__)


class Recovery:
    """One process at a time steps. Nothing is sent to partners meanwhile. What is wrong with the data of one programme
    holds up no other.
    """

    def __init__(
        self,
        pool: Pool,
        moves: MovesBeside,
        hearing: Hearing,
        desk: BooksDesk,
        clock: Clock,
        *,
        programmes: Callable[[], Awaitable[Iterable[Programme]]],
        version_of: FoundVersion,
        port_of: Callable[[Programme], RecallingPartner],
        owner_of: OwnerOf,
    ) -> None:
        self._pool = pool
        self._moves = moves
        self._hearing = hearing
        self._desk = desk
        self._clock = clock
        self._programmes = programmes
        self._version_of = version_of
        self._port_of = port_of
        self._owner_of = owner_of
        self._timelines = Timelines(pool, clock)
        self._again_at: dict[tuple[str, date], datetime] = {}

    async def step(self, _: Connection) -> int:
        """Returns how many statements were matched. Raises `Unavailable` while the database is away."""
        timeline, done = await self._timelines.read(), 0
        if timeline is None or timeline.restored_to is None:
            self._again_at.clear()
            return 0
        for programme in await self._programmes():
            for day in days_to_match(programme, timeline.restored_to, self._clock.now()):
                if self._again_at.get((programme.name, day), self._clock.now()) <= self._clock.now():
                    self._again_at[programme.name, day] = self._clock.now() + _AGAIN
                    done += await alone(programme.name, self._match(programme, day))
        return done

    async def _match(self, programme: Programme, day: date) -> int:
        port = self._port_of(programme)
        try:
            statement = await port.statement(day)
            recalled = [(each, await port.recalled(id_)) for id_, each in (await self._lost(statement.lines)).items()]
        except (Unavailable, Refused) as error:
            log.warning("statement not matched", programme=programme.name, day=str(day), why=str(error))
            return 0
        for line, found in recalled:
            if found is not None:
                await alone(programme.name, self._recover(programme, line, found))
        await self._desk.match(programme, statement)
        return 1

    async def _lost(self, lines: Sequence[StatementLine]) -> dict[UUID, StatementLine]:
        """What the partner has credited and the house does not know."""
        credited = {id_: each for each in lines if each.state is StatementState.CREDITED and (id_ := _id(each.id))}
        async with passing_failures():
            known = await of_ids(self._pool, credited)
        return {id_: each for id_, each in credited.items() if id_ not in known}

    async def _recover(self, programme: Programme, line: StatementLine, recalled: Recalled) -> int:
        """What is left alone here is found by the match, and a person looks."""
        exchange_id = UUID(line.id)
        version = version_in(recalled.programme, programme.name)
        owner = await self._owner_of(programme.name, recalled.number)
        then = None if version is None else await self._version_of(programme.name, version)
        if owner is None or then is None:
            return 0
        if (why := doubt(recalled, line, then, owner)) is not None:
            log.warning("lost exchange not believed", programme=programme.name, exchange=line.id, why=why)
            return 0
        row = remade(exchange_id, recalled, then, owner, self._clock.now())
        [fate] = await self._moves.move_beside([hold_of(row)], _Rows(row, then, self._clock))
        if fate.status is Status.REFUSED:
            about, theirs = str(exchange_id), f"credited, {recalled.amount}"
            await self._desk.note(programme, [Break(BreakKind.SHORT, about, exchange_id, str(fate.fault), theirs)])
        elif fate.status is Status.POSTED:
            await self._hearing.all([Said(row, Credited(recalled.amount, recalled.reference))], BY)
        log.info("lost exchange found", programme=programme.name, exchange=str(exchange_id), fate=fate.status.value)
        return 1


class _Rows:
    """`Beside`, for one exchange: limits do not hold for what its partner has credited."""

    def __init__(self, row: Exchange, programme: Programme, clock: Clock) -> None:
        self._row = row
        self._programme = programme
        self._clock = clock
        self._standings: Mapping[str, Standing] = {}

    async def admit(self, connection: Connection, _: Sequence[Movement]) -> Mapping[str, Declined]:
        self._standings = await locked_standings(connection, [self._programme.name])
        return {}

    async def write(self, connection: Connection, moved: Sequence[Moved]) -> None:
        if moved[0].status is not Status.POSTED:
            return
        row, now = self._row, self._clock.now()
        await enter(connection, [row])
        await tell(connection, [Turn(row.exchange_id, 1, row.state, now, BY, RESTORED, None)])
        await write_entries(connection, self._standings, [entry_of(row, self._programme, EntryKind.HELD)], now)
        more: dict[Use, int] = dict.fromkeys(uses_of(row, self._programme.timezone), row.points)
        await add_uses(connection, more)


def days_to_match(programme: Programme, restored_to: datetime, now: datetime) -> list[date]:
    """The days of statements, which are of UTC. Today has none yet by files."""
    first, last = restored_to.astimezone(UTC).date(), now.astimezone(UTC).date()
    if isinstance(programme.carrier, ByFile):
        last -= timedelta(days=1)
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
