"""Moves members through journeys: each time one transaction, in the slice of the members.

What was due is gone with it, what is done for the members is planned with it, and where they wait next is in it.
"""

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from abacus.core.clock import Clock
from abacus.core.errors import LineStopped, Unavailable
from abacus.engage.actions.action_store import plan_once
from abacus.engage.journeys import sum_rows, trail_rows
from abacus.engage.journeys.decide.packs import Pack, Waiting, packed, packed_alike
from abacus.engage.journeys.decide.portion import MOST, first_together
from abacus.engage.journeys.decide.seat import (
    Arrived,
    Entry,
    Go,
    GoTogether,
    Leaves,
    Moved,
    Seat,
    Waits,
    Went,
    each_by_itself,
    waits_on,
)
from abacus.engage.journeys.decide.ways import counted, gone_from, stood, stood_before, ways
from abacus.engage.journeys.deed_rows import put_deeds
from abacus.engage.journeys.held_rows import Held, held_among
from abacus.engage.journeys.pack_rows import Line, Mark, Stay, delete, put, take, take_of
from abacus.engage.journeys.party_rows import parties_of, write_seats_of
from abacus.engage.journeys.seat_rows import MayEnter, enter, lock_seats, seats_of, still_inside, write_seats
from abacus.engage.journeys.sum_rows import Tally
from abacus.platform import slices
from abacus.platform.postgres import Connection, passing_failures
from abacus.signals.events.types import Event

MOST_PACKS: Final = MOST
_RNG: Final = random.SystemRandom()  # a process that was forked draws no number again


# The zone of a journey, by its name: days are those of its clock.
ZoneOf: TypeAlias = Callable[[str], ZoneInfo]

UTC: Final = ZoneInfo("UTC")


def anywhere(_: str) -> ZoneInfo:
    """Days are those of UTC."""
    return UTC


class Ran(NamedTuple):
    """Packs that were run, the last one's mark, their members, and how many of these went each by itself."""

    packs: int
    members: int
    last: Mark | None
    singly: int = 0


NOTHING: Final = Ran(0, 0, None)


class Stuck(Exception):
    """The members of these packs cannot be moved together, and waiting does not help. Nothing has happened."""

    def __init__(self, packs: Sequence[Pack], fault: Exception) -> None:
        super().__init__(f"{type(fault).__name__}: {fault}")
        self.packs = packs


class Mover:
    """Every method raises `Unavailable`; nothing has happened then, or everything."""

    def __init__(
        self, go: Go, clock: Clock, zone_of: ZoneOf = anywhere, go_together: GoTogether = each_by_itself
    ) -> None:
        self._go = go
        self._clock = clock
        self._zone_of = zone_of
        self._go_together = go_together

    async def run(self, slice_: slices.Slice, line: Line, behind: Mark, upto: datetime, most: int) -> Ran:
        """Runs due packs of a line to their next waits: at most `most` of them, four thousand members at a time, or
        five hundred where an event may move each first. Raises `Stuck`.
        """
        async with slice_.at() as connection, slices.in_place(connection):
            taken = await take(connection, line, behind, upto, most)
            packs = list(first_together(taken, line.together))
            if not packs:
                return NOTHING
            await delete(connection, packs)
            singly = 0
            try:
                async with passing_failures():
                    if line.awaits:
                        seats = await seats_of(connection, packs, lock=True)
                        arrived = [each for pack in packs for each in arrived_of(pack, seats)]
                        await self._go_on(connection, line.journey, arrived, are_locked=True, packs=packs)
                    else:
                        singly = await self._part(connection, line.journey, packs)
            except (Unavailable, LineStopped):
                raise
            except Exception as fault:
                raise Stuck(packs, fault) from fault
            return _ran(packs)._replace(singly=singly)

    async def send_out(self, slice_: slices.Slice, stay: Stay, most: int) -> Ran:
        """Members of a version that is over leave, before their time: of at most `most` packs, five hundred members at
        a time.
        """
        async with slice_.at() as connection, slices.in_place(connection):
            packs = list(first_together(await take_of(connection, stay, most)))
            if not packs:
                return NOTHING
            seats = await seats_of(connection, packs, lock=True)
            arrived = [each for pack in packs for each in arrived_of(pack, seats)]
            await delete(connection, packs)
            await self._go_on(connection, stay.journey, arrived, are_locked=True, packs=packs, holds=False)
            return _ran(packs)

    async def go_on(self, connection: Connection, journey: str, arrived: Sequence[Arrived], tally: Tally) -> None:
        """Members go on whose seats are locked, in a transaction in their slice, at the end of which the tally is
        written.
        """
        await self._go_on(connection, journey, arrived, are_locked=True, tally=tally)

    async def end(self, connection: Connection, pack: Pack, arrived: Sequence[Arrived], tally: Tally) -> None:
        """A pack is gone, of which these members were still waiting."""
        await delete(connection, [pack])
        day = self._clock.now().astimezone(self._zone_of(pack.journey)).date()
        tally.count(gone_from([pack], stood(arrived)), day)

    async def enter(self, slice_: slices.Slice, entries: Sequence[Entry], may_enter: MayEnter, node: int) -> list[Seat]:
        """Members of the slice come into a journey at a node, and go on to their first waits."""
        async with slice_.at() as connection, slices.in_place(connection):
            seats = await self.bring_in(connection, entries, may_enter, node, tally := Tally())
            await tally.write(connection)
            return seats

    async def bring_in(
        self, connection: Connection, entries: Sequence[Entry], may_enter: MayEnter, node: int, tally: Tally
    ) -> list[Seat]:
        """The same, in a transaction in the slice, at the end of which the tally is written."""
        seats = await enter(connection, entries, may_enter, self._clock.now())
        arrived = [Arrived(each, node, 0) for each in seats]
        await self._go_on(connection, entries[0].journey, arrived, are_locked=True, tally=tally)
        return seats

    async def send_away(
        self,
        connection: Connection,
        journey: str,
        member_ids: Collection[str],
        why: Callable[[Seat], str | None],
        tally: Tally,
    ) -> int:
        """Visits of these members end for which there is a reason, in a transaction in their slice, at the end of
        which the tally is written; the number of them.
        """
        now, seats = self._clock.now(), await lock_seats(connection, journey, member_ids)
        ended = [
            Moved(Arrived(each, each.node, each.turn, each.arm, due=now), (), (), Leaves(reason))
            for each in seats
            if (reason := why(each)) is not None
        ]
        await self._write(connection, journey, ended, (), now, tally=tally)
        return len(ended)

    async def hear(
        self,
        slice_: slices.Slice,
        journey: str,
        events: Mapping[str, Event],
        moves: Callable[[Seat, Event], bool],
        *,
        are_late: bool = False,
    ) -> int:
        """Members of the slice, each with an event, go on from seats from which it `moves` them; the number of them.
        Raises `Held` for members who are, unless the events `are_late` for which they are, and `Untold`.
        """
        async with slice_.at() as connection, slices.in_place(connection):
            seats = await lock_seats(connection, journey, events)
            if not are_late and (held := await held_among(connection, journey, {each.member_id for each in seats})):
                raise Held((each, events[each].key) for each in held)
            arrived = [
                Arrived(each, each.node, each.turn, each.arm, event)
                for each in seats
                if moves(each, event := events[each.member_id])
            ]
            await self._go_on(connection, journey, arrived, are_locked=True)
            return len(arrived)

    async def _part(self, connection: Connection, journey: str, packs: Sequence[Pack]) -> int:
        """Members go on together as far as that is possible, and the others each by itself: how many do that."""
        now = self._clock.now()
        parties = await parties_of(connection, packs)
        parting = await self._go_together(parties.going, now)
        went = await write_seats_of(connection, parting.went, now)
        arrived = list[Arrived]()
        if singly := [*parting.singly, *parties.held]:
            left = {(each.member, each.visit) for each in singly}
            seats = await seats_of(connection, packs, lock=False)
            there = {place: seat for place, seat in seats.items() if place in left}
            arrived = [each for pack in packs for each in arrived_of(pack, there)]
        await self._go_on(connection, journey, arrived, are_locked=False, packs=packs, beside=went)
        return len(arrived)

    async def _go_on(
        self,
        connection: Connection,
        journey: str,
        arrived: Sequence[Arrived],
        *,
        are_locked: bool,
        packs: Sequence[Pack] = (),
        beside: Sequence[Went] = (),
        tally: Tally | None = None,
        holds: bool = True,
    ) -> None:
        """Whose time has come and who is held waits on. Seats that are not locked yet are locked where they are written
        or something is done; a member who left meanwhile, or was erased, does not go on.
        Members who go on were in the packs, if there are any, and so were members `beside` them.
        """
        now, ids = self._clock.now(), {each.seat.member_id for each in arrived if each.due is not None}
        held = await held_among(connection, journey, ids) if holds else frozenset[str]()
        going = [each for each in arrived if each.due is None or each.seat.member_id not in held]
        moved = [each for each in await self._go(journey, going, now) if not each.stays] if going else []
        moved += [waits_on(each, now) for each in arrived if each.due is not None and each.seat.member_id in held]
        if not are_locked:
            moved = await still_inside(connection, moved)
        await self._write(connection, journey, moved, packs, now, beside=beside, tally=tally)

    async def _write(
        self,
        connection: Connection,
        journey: str,
        moved: Sequence[Moved],
        packs: Sequence[Pack],
        now: datetime,
        *,
        beside: Sequence[Went] = (),
        tally: Tally | None = None,
    ) -> None:
        """The seats are locked, and those of `beside` are written. What is counted comes last, or is left to the end of
        a transaction that does more.
        """
        await write_seats(connection, moved, now)
        if actions := [action for each in moved for action in each.actions]:
            await plan_once(connection, actions, now)
        await put_deeds(connection, beside, now, _RNG.random)
        waiting = [*packed(waiting_of(moved), _RNG.random), *packed_alike(_waiting_together(beside), _RNG.random)]
        await put(connection, waiting)
        went = ways(moved, beside)
        await trail_rows.add(connection, went, now, _RNG.random)
        counts = counted(went) + gone_from(packs, stood_before(went))
        day = now.astimezone(self._zone_of(journey)).date()
        if tally is None:
            await sum_rows.add(connection, counts, day)
        else:
            tally.count(counts, day)


def _ran(packs: Sequence[Pack]) -> Ran:
    return Ran(len(packs), sum(len(each.members) for each in packs), Mark(packs[-1].due, packs[-1].id))


def arrived_of(pack: Pack, seats: Mapping[tuple[int, int], Seat]) -> Iterable[Arrived]:
    """The members of the pack who still wait for what it is for."""
    waits = (pack.node, pack.turn) if pack.awaits else (None, None)
    for place in zip(pack.members, pack.visits, strict=True):
        seat = seats.get(place)
        if seat is not None and seat.version == pack.version and (seat.node, seat.turn) == waits:
            yield Arrived(seat, pack.node, pack.turn, pack.arm, due=pack.due)


def waiting_of(moved: Iterable[Moved]) -> Iterable[tuple[Seat, Waits]]:
    """The seats of members who wait now, and for what."""
    return ((each.arrived.seat, each.then) for each in moved if isinstance(each.then, Waits))


def _waiting_together(went: Iterable[Went]) -> Iterable[Waiting]:
    for each in went:
        if isinstance(each.then, Waits) and each.seats:
            places = [(seat.member, seat.visit) for seat in each.seats]
            yield Waiting(each.party.journey, each.party.version, each.then, places)
