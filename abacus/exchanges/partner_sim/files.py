"""The files of the reference partner: what the house writes into a folder is answered there, from the same ledger.

A file whose digest is there is whole. It is answered once by a receipt and by results; each day that is over gets a
statement. The same file again is answered by the same words, because each id is credited once.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final
from uuid import uuid4

import structlog

from abacus.core.clock import Clock
from abacus.core.csv_text import csv_text
from abacus.core.errors import Unavailable
from abacus.exchanges.decide.transfer_file import (
    VERSION,
    FileFault,
    FileName,
    Line,
    Order,
    digest,
    digest_text,
    read_file,
    read_name,
    statement_name,
)
from abacus.exchanges.partner_sim import transfers
from abacus.exchanges.partner_sim.behaviour import Behaviour, Fates
from abacus.exchanges.partner_sim.books import Books
from abacus.exchanges.partner_sim.transfers import Facts, NotReversible, OtherFacts, Row
from abacus.platform.object_places import ObjectPlace

_EVERY_S: Final = 0.2
_WHOLE: Final = ".sha256"

log = structlog.get_logger(__name__)


class FolderPartner:
    """Looks until it is told to stop. It misbehaves as the partner that it belongs to."""

    def __init__(self, place: ObjectPlace, books: Books, fates: Fates, clock: Clock) -> None:
        self._place = place
        self._books = books
        self._fates = fates
        self._clock = clock

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                await self.step()
            except Unavailable as error:
                log.warning("place of files not reached", away=error.detail)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EVERY_S):
                    await stop.wait()

    async def step(self) -> int:
        """Returns how many files were answered. Raises `Unavailable`."""
        names = set(await self._place.names())
        files = [read_name(each.removesuffix(_WHOLE)) for each in names if each.endswith(_WHOLE)]
        new = sorted(each for each in files if each.receipt not in names)
        for each in new:
            await self._answer(each)
        for partner in {each.partner for each in files}:
            await self._state(partner, min(each.day for each in files if each.partner == partner), names)
        return len(new)

    async def _answer(self, name: FileName) -> None:
        text = await self._place.get(str(name)) or b""
        try:
            orders = self._read(name, text, await self._place.get(name.digest_file) or b"")
        except FileFault as fault:
            await self._place.put(name.receipt, _receipt(name, text, "refused", str(fault)))
            return
        now, behaviour = self._clock.now() + self._fates.skew, self._fates.behaviour
        results = await self._books.do(lambda books: results_of(books, name, orders, now, behaviour))
        await self._place.put(name.results, results)
        await self._place.put(name.receipt, _receipt(name, text, "accepted"))  # last: with it the file is done

    def _read(self, name: FileName, text: bytes, whole: bytes) -> Sequence[Order]:
        """Raises `FileFault`."""
        if self._fates.behaviour.refuses_files:
            raise FileFault("no files are taken")
        if whole != digest_text(name, text):
            raise FileFault(f"{name.digest_file} is that of another file")
        return read_file(name, text)

    async def _state(self, partner: str, first: date, names: set[str]) -> None:
        """Of each day that is over since the first file, however little happened on it."""
        today = (self._clock.now() + self._fates.skew).astimezone(UTC).date()
        for day in (first + timedelta(days=n) for n in range((today - first).days)):
            name = statement_name(partner, day)
            if name not in names:
                document = await self._books.do(partial(transfers.statement, day=day, today=today))
                lines = self._fates.without_missing(document["lines"])
                await self._place.put(name, _statement(partner, day, lines, self._fates.behaviour))


def results_of(
    books: sqlite3.Connection, name: FileName, orders: Sequence[Order], now: datetime, behaviour: Behaviour
) -> bytes:
    """Does what the lines of a file ask for; the text of its results."""
    rows = [_result(books, each, now) for each in orders]
    return _results(name, [row for row in rows if row is not None], behaviour)


def _result(books: sqlite3.Connection, order: Order, now: datetime) -> Sequence[str] | None:
    """None for a line that cannot be answered yet, or is known with other facts: a person is to look."""
    exchange_id, line, facts = order
    id_ = str(exchange_id)
    done: Row | OtherFacts | NotReversible | None
    if line is Line.TRANSFER:
        number, _, amount, points, programme = facts
        done = transfers.put(books, id_, Facts(number, int(amount), int(points), programme), now)
    elif line is Line.CANCEL:
        done = transfers.cancel(books, id_, now)
    else:
        done = transfers.reverse(books, id_, now)
    match done:
        case Row(state="credited"):
            return [id_, "credited", str(done.amount), done.reference or ""]
        case Row(state="rejected"):
            return [id_, "rejected", done.type or "", "this account gets no transfers"]
        case Row(state="cancelled" | "reversed"):
            return [id_, done.state]
        case NotReversible():
            return [id_, "not-reversed", f"it is {done.state}"]
        case _:
            return None


def _results(name: FileName, results: Sequence[Sequence[str]], behaviour: Behaviour) -> bytes:
    rows = [["RESULT", *each] for each in results]
    if behaviour.unknown_lines:
        rows.append(["RESULT", str(uuid4()), "cancelled"])
    credited = sum(int(amount) for _, _, verdict, *rest in rows if verdict == "credited" for amount in rest[:1])
    header = ["HEADER", VERSION, name.partner, f"{name.day:%Y%m%d}", f"{name.seq:04}"]
    return _text(header, rows, credited, behaviour)


def _receipt(name: FileName, text: bytes, verdict: str, *reason: str) -> bytes:
    return csv_text([["RECEIPT", str(name), digest(text), verdict, *reason]]).encode()


def _statement(partner: str, day: date, lines: Sequence[dict[str, Any]], behaviour: Behaviour) -> bytes:
    rows = [
        ["ENTRY", each["id"], each["state"], str(each["amount"]), each["at"], each["reference"] or ""] for each in lines
    ]
    credited = sum(each["amount"] for each in lines if each["state"] == "credited")
    return _text(["HEADER", VERSION, partner, f"{day:%Y%m%d}"], rows, credited, behaviour)


def _text(header: Sequence[str], rows: Sequence[Sequence[str]], amount: int, behaviour: Behaviour) -> bytes:
    said = amount + behaviour.wrong_sums
    return csv_text([header, *rows, ["TRAILER", str(len(rows)), str(said)]]).encode()
