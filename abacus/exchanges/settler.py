"""Does with held points what the partner's word asks: they are captured, released, or given back. The points, the row,
its trail, the entry of the position and what is used of limits are one transaction.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import structlog

from abacus.core.clock import Clock
from abacus.exchanges.decide.caps import given_back
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.movements import settling
from abacus.exchanges.decide.position import EntryKind, worth
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.turn import hold_lost, moved, trail
from abacus.exchanges.exchange_rows import Step, add_uses, locked_uses, write
from abacus.exchanges.metrics import IN_METRICS, Counting
from abacus.exchanges.position_rows import EntryDraft, Standing, locked_standings, write_entries
from abacus.ledger.types.movement import Declined, Moved, Movement
from abacus.ledger.types.port import SliceAway, Status, Unpostable
from abacus.platform.postgres import Connection
from abacus.pricing.decide.book import CardBook

BY: Final = "exchanger"
_DONE: Final = frozenset({Status.POSTED, Status.DUPLICATE})
_ENTRIES: Final = {
    State.CAPTURED: EntryKind.CAPTURED,
    State.RELEASED: EntryKind.RELEASED,
    State.REVERSED: EntryKind.REVERSED,
}

_FREE: Final = frozenset({State.RELEASED, State.REVERSED})  # they count against no limit any more

log = structlog.get_logger(__name__)

# A programme in one of its versions. Raises `Unavailable`.
VersionOf = Callable[[str, int], Awaitable[Programme]]


class Beside(Protocol):
    """Rows that are written in the transaction of movements."""

    async def admit(self, connection: Connection, movements: Sequence[Movement]) -> Mapping[str, Declined]: ...

    async def write(self, connection: Connection, moved: Sequence[Moved]) -> None: ...


class MovesBeside(Protocol):
    """The ledger, with rows beside its own. Raises `Unavailable` and `Unpostable`."""

    async def move_beside(self, movements: Sequence[Movement], beside: Beside) -> list[Moved]: ...


class _Due(NamedTuple):
    step: Step
    programme: Programme


class Settler:
    """Any number of processes share the work: what another has settled stays as it is."""

    def __init__(
        self,
        moves: MovesBeside,
        version_of: VersionOf,
        book: Callable[[], CardBook],
        clock: Clock,
        *,
        counting: Counting = IN_METRICS,
    ) -> None:
        self._moves = moves
        self._version_of = version_of
        self._book = book
        self._clock = clock
        self._counting = counting

    async def settle(self, steps: Sequence[Step]) -> list[Exchange]:
        """Of exchanges whose points are to be moved: as they are then. What waits for a server of the ledger, and what
        the ledger refuses to write, stays as it was: its lease is over in a minute. Raises `Unavailable`.
        """
        due = {
            each.after.exchange_id: _Due(each, await self._version_of(each.after.programme, each.after.version))
            for each in steps
        }
        return await self._settle(list(due.values())) if due else []

    async def _settle(self, due: Sequence[_Due]) -> list[Exchange]:
        now, book = self._clock.now(), self._book()
        movements = {}
        for each in due:
            after = each.step.after
            card = book.in_force(after.country, now)
            movements[settling(after, each.programme.unit, card, now)] = each
        rows = _Rows({movement.key: each for movement, each in movements.items()}, self._clock)
        try:
            await self._moves.move_beside(list(movements), rows)
        except SliceAway as error:
            log.warning("points of exchanges wait", away=error)
            return []
        except Unpostable:
            if len(due) > 1:
                return [one for each in due for one in await self._settle([each])]
            log.exception("points of an exchange cannot be moved", exchange=str(due[0].step.after.exchange_id))
            return []
        settled = list(rows.settled.values())
        self._counting.turned(settled)
        return settled


class _Rows:
    """`Beside`, for one call."""

    def __init__(self, due: Mapping[str, _Due], clock: Clock) -> None:
        self._due = due
        self._clock = clock
        self._standings: Mapping[str, Standing] = {}
        self.settled: dict[str, Exchange] = {}

    async def admit(self, connection: Connection, movements: Sequence[Movement]) -> Mapping[str, Declined]:
        for each in movements:
            self.settled.pop(each.key, None)
        names = {self._due[each.key].programme.name for each in movements}
        standings = await locked_standings(connection, names)
        self._standings = {**self._standings, **standings}  # slices are worked in side by side
        back = given_back(
            (self._due[each.key].step.after, self._due[each.key].programme.timezone) for each in movements
        )
        await locked_uses(connection, back)
        return {}

    async def write(self, connection: Connection, moved: Sequence[Moved]) -> None:
        now, steps = self._clock.now(), dict[str, Step]()
        for each in moved:
            if each.status is not Status.WAITS:
                steps[each.movement.key] = _settled(self._due[each.movement.key].step, each, self._clock)
        written = await write(connection, list(steps.values()))
        done = {key: step.after for key, step in steps.items() if step.after.exchange_id in written}
        drafts = [
            entry_of(after, self._due[key].programme, _ENTRIES[after.state])
            for key, after in done.items()
            if after.state in _ENTRIES
        ]
        await write_entries(connection, self._standings, drafts, now)
        free = [(after, self._due[key].programme.timezone) for key, after in done.items() if after.state in _FREE]
        await add_uses(connection, given_back(free))
        self.settled |= done


def _settled(step: Step, fate: Moved, clock: Clock) -> Step:
    now = clock.now()
    if fate.status in _DONE:
        after = moved(step.after, now)
    else:
        why = fate.status.value if fate.fault is None else str(fate.fault)
        after = hold_lost(step.after, now, why)
    told = trail(step.after, after, now, BY)
    return Step(step.before, after, [*step.turns, *([told] if told else [])])


def entry_of(exchange: Exchange, programme: Programme, kind: EntryKind) -> EntryDraft:
    """What an exchange does to the position with its partner."""
    offered = programme.directions[exchange.direction]
    return EntryDraft(
        programme=exchange.programme,
        kind=kind,
        money=worth(offered, exchange.theirs, exchange.points, exchange.direction),
        currency=programme.money.currency,
        by=exchange.actor,
        direction=exchange.direction,
        exchange_id=exchange.exchange_id,
        points=exchange.points,
        theirs=exchange.theirs,
    )
