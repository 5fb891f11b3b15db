"""Writes files at their time and reads their answers. One process at a time steps."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import LineStopped, Refused, Unavailable
from abacus.exchanges.carriers.files.file_rows import FileRow, FileRows, Ordered
from abacus.exchanges.decide.heard import Heard
from abacus.exchanges.decide.programme import ByFile, Programme
from abacus.exchanges.decide.transfer_file import (
    FileFault,
    FileName,
    Line,
    Orders,
    digest,
    digest_text,
    file_text,
    read_receipt,
    read_results,
)
from abacus.exchanges.types import Account, Transfer
from abacus.platform.object_places import WITHIN_S, ObjectPlace, open_place
from abacus.platform.postgres import DEPENDENCY, Connection

MOST_LINES: Final = 200_000  # of a file; what is more waits for the next one
_LOOK_EVERY: Final = timedelta(seconds=5)
_SOON: Final = timedelta(seconds=1)  # after something was written or read: its answer may be there already
_AWAY: Final = timedelta(seconds=30)  # after a place was not reached: the others wait for it each time
_ASIDE: Final = timedelta(minutes=1)  # after a fault that nobody foresaw
_TURN_S: Final = 30.0  # after which a place has no other file in this step: others wait for it
_TOGETHER: Final = 500
_AT_ONCE: Final = 2  # while one waits for the database, the other is thought about

# What a partner said of exchanges; done again, nothing changes.
Tell = Callable[[Sequence[tuple[UUID, Heard]]], Awaitable[None]]
AccountsOf = Callable[[Sequence[UUID]], Awaitable[Mapping[UUID, Account]]]  # by the ids of links

_TAKEN: Final = "not written: another file of this name was there; what it was made of waits for the next one"

log = structlog.get_logger(__name__)


class FileKeeper:
    """A place that cannot be reached is tried again, and neither it nor any fault of one programme holds up another. A
    place that is slow has one file after the other, and others their turn between.
    """

    def __init__(
        self,
        rows: FileRows,
        programmes: Callable[[], Awaitable[Iterable[Programme]]],
        accounts: AccountsOf,
        tell: Tell,
        clock: Clock,
        *,
        is_stopped: Callable[[], Awaitable[bool]],
        within_s: float = WITHIN_S,
        turn_s: float = _TURN_S,
    ) -> None:
        """`is_stopped` says whether the house was restored and its books are not matched yet: files may be there then
        that it has forgotten. `within_s` limits each call of a place.
        """
        self._rows = rows
        self._programmes = programmes
        self._accounts = accounts
        self._tell = tell
        self._clock = clock
        self._is_stopped = is_stopped
        self._within_s = within_s
        self._turn_s = turn_s
        self._look_at: dict[str, datetime] = {}
        self._last: dict[str, str] = {}  # the file that had a turn last, by programme
        self._unbelieved: dict[str, str] = {}  # the digest of results that were read and not believed, by their file

    async def step(self, _: Connection) -> int:
        """Returns how many files were written and how many answers read. Raises `Unavailable` while the database is
        away.
        """
        if await self._is_stopped():
            return 0
        programmes, now = await self._programmes(), self._clock.now()
        due = [each for each in programmes if self._look_at.get(each.name, now) <= now]
        came = await asyncio.gather(
            *(self._keep(each, each.carrier) for each in due if isinstance(each.carrier, ByFile)),
            return_exceptions=True,
        )
        for fault in came:
            if isinstance(fault, BaseException):
                raise fault
        return sum(each for each in came if isinstance(each, int))

    async def _keep(self, programme: Programme, carrier: ByFile) -> int:
        """Raises `Unavailable` while the database is away."""
        name = programme.name
        try:
            done = await self._keep_files(programme, carrier)
        except LineStopped:
            raise
        except Unavailable as error:
            if error.dependency == DEPENDENCY:
                raise
            log.warning("files not gone on with", programme=name, away=error)
            done, wait = 0, _AWAY
        except Exception:
            log.exception("files put aside", programme=name)
            done, wait = 0, _ASIDE
        else:
            wait = _SOON if done else _LOOK_EVERY
        self._look_at[name] = self._clock.now() + wait
        return done

    async def _keep_files(self, programme: Programme, carrier: ByFile) -> int:
        if (day := await self._due(programme, carrier)) is not None:
            await self.make(programme, day)
        done, files = 0, await self._rows.still_open(programme.name)
        if files:
            until, last = time.monotonic() + self._turn_s, self._last.get(programme.name, "")
            files.sort(key=lambda each: (each.name <= last, each.name))  # those that had no turn, first
            async with open_place(carrier.place, within_s=self._within_s) as place:
                for each in files:
                    self._last[programme.name] = each.name
                    done += await self._go_on(programme, place, each)
                    if time.monotonic() >= until:
                        break
        return done

    async def make(self, programme: Programme, day: date) -> FileRow:
        """A file of the day with what waits now, be it nothing: silence is an alarm."""
        made = await self._rows.make(programme.name, programme.partner, day, self._clock.now(), MOST_LINES)
        log.info("file made", programme=programme.name, file=made.name, lines=made.lines)
        return made

    async def _due(self, programme: Programme, carrier: ByFile) -> date | None:
        """The day whose cut-off is over and that has no file yet."""
        now = self._clock.now().astimezone(programme.zone)
        day = now.date() if now.time() >= carrier.cut_off else now.date() - timedelta(days=1)
        latest = await self._rows.latest_day(programme.name)
        cut_off = datetime.combine(day, carrier.cut_off, programme.zone)
        return day if cut_off >= programme.starts_at and (latest is None or latest < day) else None

    async def _go_on(self, programme: Programme, place: ObjectPlace, row: FileRow) -> int:
        name = row.file_name(programme.partner)
        try:
            if row.written_at is None:
                return await self._write(programme, place, name, row)
            if row.received_at is None:
                return await self._read_receipt(place, name, row)
            return await self._read_results(place, name, row)
        except Refused as fault:
            if row.fault != str(fault):
                log.warning("file not believed", programme=programme.name, file=row.name, fault=str(fault))
                await self._rows.at_fault(row.name, str(fault))
            return 0

    async def _write(self, programme: Programme, place: ObjectPlace, name: FileName, row: FileRow) -> int:
        orders = await self._rows.orders(row.name)
        text = await asyncio.to_thread(file_text, name, row.made_at, await self._orders(programme, orders))
        if not await self._rows.sealed(row.name, digest(text)):
            raise Refused(f"{row.name} would not be written as it was made")
        if await _is_taken(place, name, text):
            log.warning("file not written over another", programme=programme.name, file=row.name)
            await self._rows.received(row.name, self._clock.now(), accepted=False, reason=_TAKEN)
            return 1
        await place.put(str(name), text)
        await place.put(name.digest_file, digest_text(name, text))  # last: with it the file is whole
        await self._rows.written(row.name, self._clock.now())
        return 1

    async def _orders(self, programme: Programme, orders: Sequence[Ordered]) -> Orders:
        transfers = [each for each in orders if each.line is Line.TRANSFER]
        accounts = await self._accounts(sorted({each.link_id for each in transfers}))
        if gone := [each.exchange_id for each in transfers if each.link_id not in accounts]:
            raise Refused(f"the accounts of {len(gone)} exchanges were forgotten, {gone[0]} among them")
        return Orders(
            [
                Transfer(
                    each.exchange_id,
                    accounts[each.link_id],
                    each.theirs,
                    each.points,
                    f"{programme.name}@{each.version}",
                    each.asked_at,
                )
                for each in transfers
            ],
            [each.exchange_id for each in orders if each.line is Line.CANCEL],
            [each.exchange_id for each in orders if each.line is Line.REVERSE],
        )

    async def _read_receipt(self, place: ObjectPlace, name: FileName, row: FileRow) -> int:
        text = await place.get(name.receipt)
        if text is None:
            return 0
        receipt = read_receipt(name, text)
        if receipt.digest != row.digest:
            raise Refused(f"{name.receipt}: it is about {receipt.digest[:16]}…, and the file has {row.digest}")
        await self._rows.received(row.name, self._clock.now(), accepted=receipt.accepted, reason=receipt.reason)
        return 1

    async def _read_results(self, place: ObjectPlace, name: FileName, row: FileRow) -> int:
        """The same results again change nothing; a partner may answer some lines now, and all of them later."""
        text = await place.get(name.results)
        if text is None or (read := digest(text)) in {row.results_digest, self._unbelieved.get(row.name)}:
            return 0
        asked = {each.exchange_id: each.line for each in await self._rows.orders(row.name)}
        try:
            results = await asyncio.to_thread(read_results, name, text, asked)
        except FileFault:
            self._unbelieved[row.name] = read
            raise
        heard = [(id_, result.heard) for id_, result in results.items()]
        parts = [heard[start : start + _TOGETHER] for start in range(0, len(heard), _TOGETHER)]
        for first in range(0, len(parts), _AT_ONCE):
            await asyncio.gather(*map(self._tell, parts[first : first + _AT_ONCE]))
        await self._rows.answered(row.name, len(results), read, self._clock.now())
        return 1


async def _is_taken(place: ObjectPlace, name: FileName, text: bytes) -> bool:
    """Whether the place, or the partner, has another file of this name: of a house that was restored since."""
    there = await place.get(str(name))
    if there is None and (receipt := await place.get(name.receipt)) is not None:
        return read_receipt(name, receipt).digest != digest(text)
    return there is not None and there != text
