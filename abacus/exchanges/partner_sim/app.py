"""The server of the reference partner: the routes of the contract. A path that begins with `/_` is its operator's."""

import asyncio
import re
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from starlette.types import Receive, Scope, Send

from abacus.core.clock import Clock
from abacus.exchanges.decide.contract import (
    CANCELLED,
    NOT_REVERSIBLE,
    OTHER_FACTS,
    UNKNOWN_ID,
    VERIFY_PATH,
)
from abacus.exchanges.decide.signing import signed_part
from abacus.exchanges.partner_sim import transfers
from abacus.exchanges.partner_sim.behaviour import Fate, Fates
from abacus.exchanges.partner_sim.books import Books
from abacus.exchanges.partner_sim.http import Problem, Reply, Request, account_in, answer, cut, points_in, read_request
from abacus.exchanges.partner_sim.sign_in import ROOT, SignInDoor
from abacus.exchanges.partner_sim.transfers import FORGOTTEN, Facts, NotReversible, OtherFacts, Row
from abacus.platform.delivery.decide.signature import BadSignature, check_signature

_LONGEST_PROGRAMME: Final = 200
_GARBLED: Final = b"<html>Be right back"
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TRANSFER: Final = re.compile(r"/transfers/([^/]+)(?:/(cancel|reverse))?")
_DAY: Final = re.compile(r"date=(\d{4}-\d{2}-\d{2})")


class PartnerSim:
    """An ASGI application. Requests may be signed with any of the `secrets`."""

    def __init__(
        self,
        books: Books,
        fates: Fates,
        secrets: Sequence[str],
        clock: Clock,
        operator: Callable[[Request], Awaitable[Reply]],
        *,
        sign_ins: SignInDoor,
    ) -> None:
        self._books = books
        self._fates = fates
        self._secrets = secrets
        self._clock = clock
        self._operator = operator
        self._sign_ins = sign_ins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            request = await read_request(scope, receive)
            if request.path.startswith("/_"):
                await answer(send, await self._operator(request))
                return
            await self._partner(request, receive, send)
        except Problem as problem:
            await answer(send, problem.reply())

    async def _partner(self, request: Request, receive: Receive, send: Send) -> None:
        is_transfer = request.method == "PUT"
        fate = self._fates.of_request(is_transfer=is_transfer)
        if fate.fails:
            raise Problem("unavailable")
        try:
            if request.path.startswith(ROOT):
                reply = self._sign_ins.reply(request)
            else:
                self._check(request)
                reply = await self._reply(request, fate)
        except Problem as problem:
            reply = problem.reply()
        if fate.delay_s:
            await asyncio.sleep(fate.delay_s)
        if fate.fails_after:
            raise Problem("unavailable")
        if fate.silent:
            while (await receive())["type"] != "http.disconnect":
                pass
        elif fate.cuts:
            await cut(send)
        else:
            await answer(send, reply._replace(body=_GARBLED) if fate.garbled else reply)

    def _now(self) -> datetime:
        """By its own clock, which may be wrong."""
        return self._clock.now() + self._fates.skew

    def _check(self, request: Request) -> None:
        """Raises `Problem`."""
        if self._fates.behaviour.takes_any_signature:
            return
        try:
            signed = signed_part(request.method, request.target, request.body)
            check_signature(self._secrets, request.headers, signed, self._now().timestamp())
        except BadSignature as fault:
            raise Problem("bad-signature", str(fault)) from None

    async def _reply(self, request: Request, fate: Fate) -> Reply:
        """Raises `Problem`."""
        if request.path == VERIFY_PATH:
            _only(request, "POST")
            number, _ = account_in(request.json())
            return Reply(200, {"match": transfers.match_of(number)})
        if request.path == "/statement":
            _only(request, "GET")
            return await self._statement(request)
        found = _TRANSFER.fullmatch(request.path)
        if found is None:
            raise Problem("not-found")
        id_, act = found.groups()
        _only(request, *(("POST",) if act else ("PUT", "GET")))
        if _ID.fullmatch(id_) is None:
            raise Problem("malformed", "the id is no UUID in small letters")
        if act == "cancel":
            return await self._cancel(id_)
        if act == "reverse":
            return await self._reverse(id_)
        return await (self._put(id_, request, fate) if request.method == "PUT" else self._get(id_))

    async def _put(self, id_: str, request: Request, fate: Fate) -> Reply:
        facts, now, behaviour = _facts(request.json()), self._now(), self._fates.behaviour
        later = None if fate.slow_s is None else self._clock.now().timestamp() + fate.slow_s

        def work(books: sqlite3.Connection) -> Row | OtherFacts:
            known = transfers.find(books, id_)
            if known is not None and known.state == "credited" and behaviour.credits_again:
                transfers.forget(books, id_)
            put = transfers.put(books, id_, facts, now, later=later)
            if isinstance(put, OtherFacts) and behaviour.takes_any_facts:
                return transfers.known(books, id_)
            if isinstance(put, Row) and put.state == "rejected" and behaviour.forgets_refusals:
                transfers.forget(books, id_)
            return put

        put = await self._books.do(work)
        if isinstance(put, OtherFacts):
            detail = f"{put.known.amount} points were asked for first, then {facts.amount}"
            raise Problem(OTHER_FACTS, detail, id=id_, known=_shown(put.known), given=_shown(facts))
        if put.state == "rejected":
            raise Problem(put.type or "", "this account gets no transfers", id=id_)
        if put.state == CANCELLED:
            raise Problem(CANCELLED, "it was cancelled before", id=id_)
        return Reply(202 if put.state == "pending" else 200, _told(put, fate))

    async def _get(self, id_: str) -> Reply:
        row = await self._books.do(lambda books: transfers.find(books, id_))
        if row is None or row.state == FORGOTTEN:
            raise Problem(UNKNOWN_ID, id=id_)
        return Reply(200, row.whole_document())

    async def _cancel(self, id_: str) -> Reply:
        now, forgets = self._now(), self._fates.behaviour.forgets_tombstones

        def work(books: sqlite3.Connection) -> Row:
            row = transfers.cancel(books, id_, now)
            if row.state == CANCELLED and forgets:
                transfers.forget(books, id_)
            return row

        return Reply(200, (await self._books.do(work)).document())

    async def _reverse(self, id_: str) -> Reply:
        now = self._now()
        row = await self._books.do(lambda books: transfers.reverse(books, id_, now))
        if isinstance(row, NotReversible):
            raise Problem(NOT_REVERSIBLE, f"it is {row.state}", id=id_)
        if row is None or row.state == FORGOTTEN:
            raise Problem(UNKNOWN_ID, id=id_)
        return Reply(200, row.document())

    async def _statement(self, request: Request) -> Reply:
        found = _DAY.fullmatch(request.query)
        try:
            day = date.fromisoformat(found[1]) if found else None
        except ValueError:
            day = None
        if day is None:
            raise Problem("malformed", "?date=YYYY-MM-DD is needed")
        today = self._now().astimezone(UTC).date()
        statement = await self._books.do(lambda books: transfers.statement(books, day, today))
        if self._fates.behaviour.misses_lines:
            lines = self._fates.without_missing(statement["lines"])
            statement = transfers.stated(day, lines, complete=statement["complete"])
        if self._fates.behaviour.wrong_sums:
            statement["sums"]["credited"] += 1
        return Reply(200, statement)


def _only(request: Request, *methods: str) -> None:
    if request.method not in methods:
        raise Problem("method-not-allowed")


def _facts(document: Mapping[str, Any]) -> Facts:
    """Raises `Problem`."""
    account = document.get("account")
    number, _ = account_in(account if isinstance(account, dict) else {})
    programme = document.get("programme")
    if not isinstance(programme, str) or not 0 < len(programme) <= _LONGEST_PROGRAMME:
        raise Problem("malformed", "programme is a text")
    return Facts(number, points_in(document, "amount"), points_in(document, "points"), programme)


def _told(row: Row, fate: Fate) -> Mapping[str, Any]:
    told = row.document()
    if fate.wrong_amount and row.amount is not None and row.state == "credited":
        told["amount"] = row.amount + 1
    return told


def _shown(facts: Facts) -> Mapping[str, Any]:
    """Without the account, which is nobody's business but the member's."""
    return {"amount": facts.amount, "points": facts.points, "programme": facts.programme}
