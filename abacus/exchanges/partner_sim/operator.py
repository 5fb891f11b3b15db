"""What the operator of the reference partner asks, without a signature; so the server belongs on loopback.

`PUT /_behave` misbehaves from now on (behaviour.py), `GET /_ledger` tells everything, `POST /_earn {number, points}`
gives a member points, `POST /_send {number, points, id?}` sends some to the house, `POST /_cancel {id}` calls that
back, and `POST /_take-back {id}` reverses a credit and tells the house.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from uuid import uuid4

from pydantic import ValidationError

from abacus.core.clock import Clock
from abacus.exchanges.decide.contract import NOT_REVERSIBLE, UNKNOWN_ID
from abacus.exchanges.partner_sim import inbound, transfers
from abacus.exchanges.partner_sim.behaviour import Behaviour, Fates
from abacus.exchanges.partner_sim.books import Books
from abacus.exchanges.partner_sim.errands import tell
from abacus.exchanges.partner_sim.http import Problem, Reply, Request, account_in, points_in
from abacus.exchanges.partner_sim.inbound import TooFew
from abacus.exchanges.partner_sim.transfers import NotReversible, Row


class Operator:
    """Answers its requests."""

    def __init__(self, books: Books, fates: Fates, clock: Clock) -> None:
        self._books = books
        self._fates = fates
        self._clock = clock
        self._routes: Final[Mapping[tuple[str, str], Callable[[Request], Awaitable[Reply]]]] = {
            ("PUT", "/_behave"): self._behave,
            ("GET", "/_ledger"): self._ledger,
            ("POST", "/_earn"): self._earn,
            ("POST", "/_send"): self._send,
            ("POST", "/_cancel"): self._cancel,
            ("POST", "/_take-back"): self._take_back,
        }

    async def __call__(self, request: Request) -> Reply:
        """Raises `Problem`."""
        route = self._routes.get((request.method, request.path))
        if route is None:
            raise Problem("not-found", f"there are {', '.join(' '.join(each) for each in self._routes)}")
        return await route(request)

    async def _behave(self, request: Request) -> Reply:
        try:
            self._fates.change(Behaviour.model_validate(request.json()))
        except ValidationError as fault:
            raise Problem("malformed", str(fault)) from None
        return Reply(200, self._fates.behaviour.model_dump())

    async def _ledger(self, _request: Request) -> Reply:
        return Reply(200, await self._books.do(transfers.ledger))

    async def _earn(self, request: Request) -> Reply:
        document = request.json()
        (number, _), points = account_in(document), points_in(document, "points")
        await self._books.do(lambda books: inbound.earn(books, number, points))
        return Reply(200, {"number": number, "points": points})

    async def _send(self, request: Request) -> Reply:
        document, now_s = request.json(), self._clock.now().timestamp()
        (number, _), points = account_in(document), points_in(document, "points")
        id_ = _id(document) if "id" in document else str(uuid4())
        held = await self._books.do(lambda books: inbound.hold(books, id_, number, points, now_s))
        if isinstance(held, TooFew):
            raise Problem("too-few-points", f"{held.available} points are available", available=held.available)
        return Reply(202, {"id": id_, "state": "held"})

    async def _cancel(self, request: Request) -> Reply:
        id_, now_s = _id(request.json()), self._clock.now().timestamp()
        state = await self._books.do(lambda books: inbound.cancel(books, id_, now_s))
        if state is None:
            raise Problem(UNKNOWN_ID, id=id_)
        return Reply(202, {"id": id_, "state": state})

    async def _take_back(self, request: Request) -> Reply:
        id_, now = _id(request.json()), self._clock.now() + self._fates.skew

        def work(books: sqlite3.Connection) -> Row | NotReversible | None:
            row = transfers.reverse(books, id_, now)
            if isinstance(row, Row) and row.state == "reversed":
                tell(books, row, now)
            return row

        row = await self._books.do(work)
        if isinstance(row, NotReversible):
            raise Problem(NOT_REVERSIBLE, f"it is {row.state}", id=id_)
        if row is None:
            raise Problem(UNKNOWN_ID, id=id_)
        return Reply(200, row.document())


def _id(document: Mapping[str, Any]) -> str:
    """Raises `Problem`."""
    id_ = document.get("id")
    if not isinstance(id_, str) or not id_:
        raise Problem("malformed", "id is a text")
    return id_
