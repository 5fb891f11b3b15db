"""An import: every line is checked, against the file and the ledger, before the first is posted.

Each page of lines is a transaction for each slice, and a line that was posted is recognised by its key. So an import
that was cut off is run again and goes on.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from abacus.core.clock import Clock
from abacus.ledger.decide.opening_balance import OpeningBalance, Origin
from abacus.ledger.store.claimed_keys import ClaimedKeys
from abacus.ledger.store.newcomers import refused_newcomers
from abacus.ledger.store.rows import in_a_transaction, lock_accounts, write
from abacus.ledger.store.turns import Turn, begin_posting
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import slice_map_of, slices_of
from abacus.programs.opening.decide.batch import Sorted, Staged, Taken, open_all, sort_out
from abacus.programs.opening.decide.line import BalanceLine, Fault, Known, read_line
from abacus.programs.opening.stage import Stage

PAGE: Final = 2000
HANDS: Final = 2

LinesDone = Callable[[int], None]  # told how many more lines are done
Page = Sequence[Staged]
Tell = Callable[[Fault], None]


@dataclass(slots=True)
class Tally:
    """The fate of the lines. `new` counts the lines, and `points` the points, that are posted or would be."""

    lines: int = 0
    new: int = 0
    points: int = 0
    already: int = 0
    bad: int = 0


class Import:
    """One file's way into the ledger: `stage`, then `check`, then `post`."""

    def __init__(self, pool: Pool, stage: Stage, clock: Clock, origin: Origin, tell: Tell) -> None:
        self._pool = pool
        self._stage = stage
        self._clock = clock
        self._origin = origin
        self._tell = tell
        self._claimed = ClaimedKeys()
        self._unreadable = 0
        self._lines = 0
        self._told: set[int] = set()

    async def stage(self, lines: Iterable[BalanceLine | Fault], known: Known, progress: LinesDone) -> None:
        """Read every line. Lines that make no sense are told and left out."""
        await self._stage.create()
        staged: list[tuple[int, OpeningBalance]] = []
        for line in lines:
            self._lines += 1
            read = [line] if isinstance(line, Fault) else read_line(line, known)
            if isinstance(read, OpeningBalance):
                staged.append((line[0], read))
            else:
                self._unreadable += 1
                for fault in read:
                    self._tell(fault)
            if len(staged) == PAGE:
                await self._stage.add(staged)
                progress(len(staged))
                staged = []
        await self._stage.add(staged)
        await self._stage.sort()
        progress(len(staged))

    @property
    def staged(self) -> int:
        """How many lines make sense by themselves."""
        return self._lines - self._unreadable

    async def check(self, progress: LinesDone) -> Tally:
        """The tally that posting would have; nothing is written."""
        return await self._walk(self._check_page, progress)

    async def post(self, progress: LinesDone) -> Tally:
        """Post the new lines that contradict nothing."""
        return await self._walk(self._write, progress)

    async def _walk(self, settle: Callable[[Page, Connection], Awaitable[Sorted]], progress: LinesDone) -> Tally:
        tally, slice_map = Tally(lines=self._lines, bad=self._unreadable), await slice_map_of(self._pool)
        in_slices, pages, turn = await slices_of(self._pool), self._stage.pages(PAGE), asyncio.Lock()

        async def hand() -> None:
            while True:
                async with turn:
                    page = await anext(pages, None)
                if page is None:
                    return
                for number, part in slice_map.by_slice(page, lambda staged: staged.opening.member_id).items():
                    settling = in_a_transaction(in_slices[number].across, partial(settle, part))
                    self._count(tally, await settling)
                    progress(len(part))

        # One task decides while the database works for the other.
        hands = [asyncio.ensure_future(hand()) for _ in range(HANDS)]
        try:
            await asyncio.gather(*hands)
        finally:
            for each in hands:
                each.cancel()
        return tally

    async def _check_page(self, page: Page, connection: Connection) -> Sorted:
        return await self._look(page, await begin_posting(connection), connection)

    async def _look(self, page: Page, turn: Turn, connection: Connection) -> Sorted:
        earlier = await self._claimed.among(connection, turn, {staged.key for staged in page})
        taken = {key: Taken(claim.fingerprint, None) for key, claim in earlier.items()}
        refused = await refused_newcomers(connection, [staged.account for staged in page], ())
        return sort_out(page, taken, self._origin, refused=refused)

    async def _write(self, page: Page, connection: Connection) -> Sorted:
        turn = await begin_posting(connection)
        lines = await self._look(page, turn, connection)
        locked = await lock_accounts(connection, turn, sorted(staged.account for staged, _ in lines.new))
        openings = open_all(lines.new, locked.accounts, self._origin, self._clock.now())
        await write(connection, locked, openings.accounts, openings.claims, openings.transfers, whole=True)
        refused = {fault.line for fault in openings.faults}
        posted = [each for each in lines.new if each[0].line not in refused] if refused else lines.new
        return Sorted(posted, lines.already, lines.faults + openings.faults)

    def _count(self, tally: Tally, lines: Sorted) -> None:
        tally.new += len(lines.new)
        tally.points += sum(staged.opening.points for staged, _ in lines.new)
        tally.already += lines.already
        tally.bad += len(lines.faults)
        for fault in lines.faults:
            if fault.line not in self._told:  # checking has told most of the faults that posting meets
                self._told.add(fault.line)
                self._tell(fault)
