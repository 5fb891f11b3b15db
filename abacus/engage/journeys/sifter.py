"""Members who cannot be moved are singled out of their packs and set aside, so that they hold up nobody else."""

import random
from collections.abc import Sequence
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import LineStopped, Unavailable
from abacus.engage.journeys.aside_rows import set_aside, take_one
from abacus.engage.journeys.decide.packs import Pack
from abacus.engage.journeys.decide.seat import Arrived
from abacus.engage.journeys.halving import in_halves
from abacus.engage.journeys.metrics import JOURNEY_SET_ASIDE
from abacus.engage.journeys.mover import Mover, Stuck, arrived_of
from abacus.engage.journeys.seat_rows import seats_of
from abacus.engage.journeys.sum_rows import Tally
from abacus.platform import slices
from abacus.platform.postgres import Connection, passing_failures

MOST_IN_A_ROW: Final = 20  # packs of which nobody could be moved: the fault is ours
_IDS: Final = 1 << 63
_RNG: Final = random.SystemRandom()  # a process that was forked draws no number again

log = structlog.get_logger(__name__)


class Sifter:
    """Every method raises `Unavailable`."""

    def __init__(self, mover: Mover, clock: Clock) -> None:
        self._mover = mover
        self._clock = clock
        self._in_a_row = 0

    def all_went(self) -> None:
        """Members of other packs went on meanwhile."""
        self._in_a_row = 0

    async def sift(self, slice_: slices.Slice, stuck: Stuck) -> int:
        """Moves who can be moved, and sets the others aside; the number of packs. Raises `LineStopped` where that would
        be nearly everybody.
        """
        for pack in stuck.packs:
            if self._in_a_row >= MOST_IN_A_ROW:
                raise LineStopped(f"nobody in the last {MOST_IN_A_ROW} packs of journeys could be moved: {stuck}")
            async with slice_.at() as connection, slices.in_place(connection):
                if await take_one(connection, pack):
                    await self._sift(connection, pack)
        return len(stuck.packs)

    async def _sift(self, connection: Connection, pack: Pack) -> None:
        arrived = list(arrived_of(pack, await seats_of(connection, [pack], lock=True)))
        faults = await self._faults(connection, pack.journey, arrived, tally := Tally())
        await set_aside(connection, _packs_of(pack, faults), self._clock.now())
        await self._mover.end(connection, pack, arrived, tally)
        await tally.write(connection)
        if arrived:
            self._in_a_row = self._in_a_row + 1 if len(faults) == len(arrived) else 0
        JOURNEY_SET_ASIDE.inc(len(faults))
        for fault in sorted({fault for _, fault in faults}):
            log.error("members of a journey are set aside", journey=pack.journey, node=pack.node, why=fault)

    async def _faults(
        self, connection: Connection, journey: str, arrived: Sequence[Arrived], tally: Tally
    ) -> list[tuple[Arrived, str]]:
        """Who could not be moved, with the fault."""

        async def go_on(part: Sequence[Arrived]) -> None:
            async with passing_failures(), connection.transaction():
                await self._mover.go_on(connection, journey, part, of_part := Tally())
            tally.take(of_part)

        return await in_halves(arrived, go_on, concerns_all=lambda fault: isinstance(fault, Unavailable | LineStopped))


def _packs_of(pack: Pack, faults: Sequence[tuple[Arrived, str]]) -> list[tuple[Pack, str]]:
    """A pack for each fault."""
    by_fault: dict[str, list[Arrived]] = {}
    for each, fault in faults:
        by_fault.setdefault(fault, []).append(each)
    return [
        (
            pack._replace(
                id=int(_RNG.random() * _IDS),
                members=[each.seat.member for each in some],
                visits=[each.seat.visit for each in some],
            ),
            fault,
        )
        for fault, some in by_fault.items()
    ]
