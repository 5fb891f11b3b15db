"""What the reference partner does by itself: it decides what is pending, sends its callbacks until they arrive, and
drives its own exchanges with the house.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

import orjson

from abacus.core.clock import Clock
from abacus.exchanges.carriers.line import Line, NoAnswer
from abacus.exchanges.decide.contract import JSON
from abacus.exchanges.partner_sim import inbound, transfers
from abacus.exchanges.partner_sim.behaviour import Fates
from abacus.exchanges.partner_sim.books import Books
from abacus.exchanges.partner_sim.inbound import House, Sent
from abacus.exchanges.partner_sim.transfers import Row
from abacus.platform.delivery.decide.signature import new_secret, signed_headers

_EVERY_S: Final = 0.02
_AT_ONCE: Final = 50
_LONGEST_WAIT_S: Final = 10.0


class _Callback(NamedTuple):
    """A callback that has not arrived."""

    n: int
    body: bytes
    attempts: int


class Errands:
    """Runs until it is told to stop. Callbacks are kept while there is no address for them."""

    def __init__(
        self,
        books: Books,
        fates: Fates,
        secret: str,
        clock: Clock,
        *,
        callbacks: Line | None = None,
        house: House | None = None,
    ) -> None:
        self._books = books
        self._fates = fates
        self._clock = clock
        self._secret = secret
        self._callbacks = callbacks
        self._house = house

    async def run(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await self.step()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EVERY_S):
                    await stop.wait()

    async def step(self) -> None:
        """All that is due now, once."""
        now_s = self._clock.now().timestamp()
        now = self._now()

        def decide(books: sqlite3.Connection) -> None:
            for id_ in transfers.due(books, now_s):
                row = transfers.decide(books, id_, now)
                tell(books, row, now)
                if row.state == "rejected" and self._fates.behaviour.forgets_refusals:
                    transfers.forget(books, id_)

        await self._books.do(decide)
        if self._callbacks is not None:
            due = await self._books.do(lambda books: _due_callbacks(books, now_s))
            await asyncio.gather(*[self._call_back(self._callbacks, each) for each in due])
        if self._house is not None:
            sent = await self._books.do(lambda books: inbound.due(books, now_s, _AT_ONCE))
            await asyncio.gather(*[self._drive(self._house, each) for each in sent])

    def _now(self) -> datetime:
        """By its own clock, which may be wrong."""
        return self._clock.now() + self._fates.skew

    async def _call_back(self, line: Line, callback: _Callback) -> None:
        arrived = await self._posted(line, callback)
        if arrived and self._fates.doubles():
            await self._posted(line, callback)
        now_s = self._clock.now().timestamp()
        await self._books.do(lambda books: _settle_callback(books, callback, now_s, arrived=arrived))

    async def _posted(self, line: Line, callback: _Callback) -> bool:
        secret = new_secret() if self._fates.signs_badly() else self._secret
        now_s = int(self._now().timestamp())
        headers = signed_headers([secret], f"msg_{callback.n}", now_s, callback.body)
        try:
            answer = await line.ask("POST", line.target(""), {**headers, "content-type": JSON}, callback.body)
        except NoAnswer:
            return False
        return answer.is_success

    async def _drive(self, house: House, sent: Sent) -> None:
        state, detail = await house.next_state(sent)
        now_s = self._clock.now().timestamp()
        await self._books.do(lambda books: inbound.settle(books, sent, state, detail, now_s))


def tell(books: sqlite3.Connection, row: Row, now: datetime) -> None:
    """Keeps a callback that tells where a transfer stands."""
    document = {
        "type": f"transfer.{row.state}",
        "timestamp": now.astimezone(UTC).isoformat(),
        "data": row.document(),
    }
    books.execute(
        "insert into callback (id, body, due_at, attempts) values (?, ?, 0, 0)", (row.id, orjson.dumps(document))
    )


def _due_callbacks(books: sqlite3.Connection, now_s: float) -> Sequence[_Callback]:
    rows = books.execute(
        "select n, body, attempts from callback where due_at <= ? order by due_at limit ?", (now_s, _AT_ONCE)
    )
    return [_Callback(*row) for row in rows]


def _settle_callback(books: sqlite3.Connection, callback: _Callback, now_s: float, *, arrived: bool) -> None:
    if arrived:
        books.execute("delete from callback where n = ?", (callback.n,))
        return
    wait_s = min(0.1 * 2**callback.attempts, _LONGEST_WAIT_S)
    books.execute("update callback set attempts = attempts + 1, due_at = ? where n = ?", (now_s + wait_s, callback.n))
