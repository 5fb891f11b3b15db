"""The door by which callers ask members into journeys, and are told where members are. What they ask is durable when
this returns; the worker `journeyer` lets the members in.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.core.ids import person_key
from abacus.core.sources import Agent
from abacus.documents.decide.states import Status
from abacus.engage.actions.action_store import plan_anew
from abacus.engage.actions.types import PlannedAction
from abacus.engage.journeys.decide.context import check_size, read_context
from abacus.engage.journeys.decide.entry import ByCall
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.orders import CALLER, Asking, OrderKind, receiver_of, start_order
from abacus.engage.journeys.decide.seat import Seat
from abacus.engage.journeys.journey_store import JourneyStore, JourneyVersions
from abacus.engage.journeys.places import place_of
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns
from abacus.signals.segments.numbers import MemberNumbers


class NotEntered(Refused):
    """Nobody enters the journey now."""


class KeyReused(Refused):
    """The key is that of another entry of the member."""


class EntryStatus(StrEnum):
    """What became of an entry that was asked for."""

    WAITING = "waiting"
    ENTERED = "entered"
    REFUSED = "refused"


class AskedEntry(NamedTuple):
    """An entry that was asked for: it waits until it `is_done`, or is `refused` for a reason. `owner` asked for it."""

    key: str
    owner_kind: str
    owner: str
    asked_at: datetime
    is_done: bool
    refused: str | None

    @property
    def status(self) -> EntryStatus:
        if self.is_done:
            return EntryStatus.ENTERED
        return EntryStatus.WAITING if self.refused is None else EntryStatus.REFUSED

    def told(self) -> dict[str, Any]:
        """As callers are told of it."""
        return {"asked_at": self.asked_at, "status": self.status.value, "why": self.refused}


class Stay(NamedTuple):
    """A visit of a member, and the node at which it waits since a time; none once it left, for `why`."""

    key: str
    visit: int
    version: int
    entered_at: datetime
    node: str | None
    since: datetime | None
    left_at: datetime | None
    why: str | None


class ByHand(NamedTuple):
    """A member who is let in by a person, for a reason, with a context; once under the key."""

    member_id: str
    context: Mapping[str, Any]
    key: str
    reason: str


class Asker(NamedTuple):
    """A caller who sees what it asked for: its source, and how its keys begin."""

    source: str | None
    prefix: str | None


class InJourney(NamedTuple):
    """The visits of a member to a journey, and the entries that were asked for it by callers and by other journeys."""

    stays: Sequence[Stay]
    entries: Sequence[AskedEntry]


_NEWEST: Final = Statement("""
select version, status from journey where name = :name and approved_at is not null order by version desc limit 1
""")
NEWEST: Final = 100  # entries of a member, and visits, that callers are told of
_ENTRY: Final = "key, owner_kind, owner, decided_at, done_at is not null, reason"
_OF_KEY: Final = Statement(f"""
select {_ENTRY}, receiver, document::text from action where member_id = :member_id and key = :key and number = 0
""")
_OF_MEMBER: Final = Statement(f"""
select {_ENTRY} from action where member_id = :member_id and receiver = :receiver and kind = '{OrderKind.START}'
    and (:asker::text is null or (owner_kind = '{CALLER}' and owner = :asker))
order by decided_at desc, key limit {NEWEST}
""")
_SEATS: Final = Statement(f"""
select {columns(Seat)}, left_at, why from seat
where member_id = :member_id and journey = :journey and (:prefix::text is null or starts_with(key, :prefix))
order by visit desc limit {NEWEST}
""")


class EntryDesk:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, *, documents: Pool | None = None) -> None:
        """`documents` says where journeys are published, if not beside the members."""
        self._pool = pool
        self._clock = clock
        self._documents = documents or pool
        self._versions = JourneyVersions(JourneyStore(self._documents))

    def rehearsing(self, pool: Pool) -> "EntryDesk":
        """The same journeys, with the members of the sandbox. No worker lets these in."""
        return EntryDesk(pool, self._clock, documents=self._documents)

    async def journey(self, name: str) -> Journey:
        """The newest version that was approved. Raises `Absent`."""
        return (await self._newest(name))[0]

    async def enter(self, name: str, member_id: str, context: Mapping[str, Any], key: str, agent: Agent) -> AskedEntry:
        """Asks for an entry, once under its key; what was asked before stands. Raises `Absent`, `NotEntered`,
        `ContextFaults` and `KeyReused`.
        """
        check_size(context)
        order = start_order(Asking(name, member_id, key, CALLER, agent.source), context, now := self._clock.now())
        async with slices.at(self._pool, member_id) as connection:
            before = await _found(connection, order)
        if before is not None:
            return before
        journey, status = await self._newest(name)
        self._check_open(journey, status)
        read_context(context, journey.context)
        async with slices.at(self._pool, member_id) as connection:
            await plan_anew(connection, order, now)
            entry = await _found(connection, order)
        assert entry is not None  # noqa: S101  # it was entered, now or before
        return entry

    async def check(self, name: str, member_id: str, context: Mapping[str, Any]) -> Journey:
        """The journey into which a person may let the member in by hand. Raises as `enter` does, and `Refused` for an
        id that no member may have.
        """
        journey, status = await self._newest(name)
        self._check_open(journey, status)
        await MemberNumbers(self._pool).check_newcomers([member_id])
        read_context(context, journey.context)
        return journey

    async def let_in(self, name: str, hand: ByHand, by: Actor) -> AskedEntry:
        """An entry that a person asks for, in the log with its reason. Raises as `check` does."""
        member_id, context, key, reason = hand
        journey = await self.check(name, member_id, context)
        told = {"country": journey.country, "did": "enter", "of": name, "reason": reason}
        entry = entry_of(by.source, Deed.MOVE_POINTS, f"member:{member_id}", self._clock.now(), **told)
        async with passing_failures(), self._documents.acquire() as connection:
            await noted(entry)(connection)
        return await self.enter(name, member_id, context, person_key(by.name, key), by.agent)

    async def where(self, journey: Journey, member_id: str, asker: Asker | None = None) -> InJourney:
        """Where the member is, as of one moment: its newest visits and entries; of one who asked for them, or all."""
        name, now, of = journey.name, self._clock.now(), asker or Asker(None, None)
        async with (
            slices.at(self._pool, member_id) as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            seats = await connection.fetch(*_SEATS(member_id=member_id, journey=name, prefix=of.prefix))
            seats.reverse()
            asked = _OF_MEMBER(member_id=member_id, receiver=receiver_of(name), asker=of.source)
            entries = (await connection.fetch(*asked))[::-1]
            places = [
                await place_of(connection, Seat(*row[:-2]), now) if row["left_at"] is None else None for row in seats
            ]
        stays = [
            await self._stay(Seat(*row[:-2]), row["left_at"], row["why"], place)
            for row, place in zip(seats, places, strict=True)
        ]
        return InJourney(stays, [AskedEntry(*row) for row in entries])

    async def _newest(self, name: str) -> tuple[Journey, Status]:
        async with passing_failures():
            row = await self._documents.fetchrow(*_NEWEST(name=name))
        if row is None:
            raise absent("journey", name, "`abacus journeys list` prints all")
        return await self._versions.of(name, row[0]), Status(row[1])

    def _check_open(self, journey: Journey, status: Status) -> None:
        """Raises `NotEntered`."""
        now = self._clock.now()
        if not isinstance(journey.entry.how, ByCall):
            raise NotEntered(f"members do not enter {journey.label} by the API")
        if status is not Status.APPROVED:
            raise NotEntered(f"{journey.label} is {status}")
        if not journey.starts_at <= now < journey.ends_at:
            raise NotEntered(f"{journey.label} takes nobody in at {now.astimezone(journey.zone).isoformat()}")

    async def _stay(
        self, seat: Seat, left_at: datetime | None, why: str | None, place: tuple[int, datetime] | None
    ) -> Stay:
        visit = seat.key, seat.visit, seat.version, seat.entered_at
        if place is None:
            return Stay(*visit, None, None, left_at, why)
        version = await self._versions.of(seat.journey, seat.version)
        node, since = place
        return Stay(*visit, version.by_number[node].name, since, None, None)


async def _found(connection: Connection, order: PlannedAction) -> AskedEntry | None:
    """What was asked for under the key of the order. Raises `KeyReused`."""
    row = await connection.fetchrow(*_OF_KEY(member_id=order.member_id, key=order.key))
    if row is None:
        return None
    *entry, receiver, document = row
    if (receiver, document) != (order.receiver, order.document.decode()):
        raise KeyReused("the key was used for another entry of this member")
    return AskedEntry(*entry)
