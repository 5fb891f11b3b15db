"""What the cases play with: questions to the server, and what was heard of each id, which its statement has to tell."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import UTC, date, timedelta
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from uuid import uuid4

import orjson

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError
from abacus.exchanges.carriers.line import Line, NoAnswer
from abacus.exchanges.decide.contract import JSON, PROBLEM, REFUSALS, Answer
from abacus.exchanges.decide.signing import signed_part
from abacus.platform.delivery.decide.reply import brief
from abacus.platform.delivery.decide.signature import signed_headers

_MOST_BYTES: Final = 64 * 1024 * 1024
_FIRST_LOOK_S: Final = 0.02
_LONGEST_LOOK_S: Final = 1.0
AMOUNT: Final = 500
POINTS: Final = 1000


class Broken(AbacusError):
    """The server does not keep the contract; the message says what was expected, and what came."""


class NotOffered(AbacusError):
    """The server need not offer what the case is about."""


class Accounts(NamedTuple):
    """Accounts of the partner's test system."""

    open: str
    other: str  # open, too
    closed: str
    unknown: str


class Said(NamedTuple):
    """An answer, with its document if it has one."""

    status: int
    media_type: str
    document: Mapping[str, Any]

    @property
    def refuses(self) -> bool:
        """Whether the fault is the caller's."""
        return HTTPStatus.BAD_REQUEST <= self.status < HTTPStatus.INTERNAL_SERVER_ERROR

    @property
    def words(self) -> str:
        told = ", ".join(f"{name} {self.document[name]!r}" for name in ("type", "state", "id") if name in self.document)
        return brief(f"{self.status} as {self.media_type or 'nothing'}{f' with {told}' if told else ''}")


class Signing(NamedTuple):
    """How a request is signed, where it is not signed as the contract says: as another one, at another time."""

    secrets: tuple[str, ...] | None = None
    shift_s: int = 0
    method: str | None = None
    path: str | None = None
    body: bytes | None = None
    leaves_out: str | None = None


_AS_IT_IS: Final = Signing()


class Kit:
    """One for each run."""

    def __init__(self, line: Line, secret: str, accounts: Accounts, clock: Clock, *, wait_s: float) -> None:
        self._line = line
        self._secret = secret
        self._clock = clock
        self._wait_s = wait_s
        self.accounts: Final = accounts
        self.heard: Final[defaultdict[str, set[str]]] = defaultdict(set)  # by state, the ids that came to it
        self.began: Final = clock.now().astimezone(UTC).date()

    # --- Asking ---

    async def ask(
        self,
        method: str,
        path: str,
        document: object = None,
        *,
        body: bytes | None = None,
        signing: Signing = _AS_IT_IS,
        within_s: float = 30,
    ) -> Said:
        """Raises `Broken` where no answer comes."""
        sent = body if body is not None else b"" if document is None else orjson.dumps(document)
        headers = self._signed(method, self._line.target(path), sent, signing)
        try:
            answer = await self._line.ask(
                method, self._line.target(path), headers, sent, within_s=within_s, most_bytes=_MOST_BYTES
            )
        except NoAnswer as fault:
            raise Broken(f"{method} {path}: {fault}") from None
        return _said(answer)

    async def hang_up_after(self, method: str, path: str, document: object) -> None:
        """Asks, and leaves before the answer can be read. Raises `Broken` where nobody listens."""
        sent, origin = orjson.dumps(document), self._line.origin
        headers = self._signed(method, self._line.target(path), sent, _AS_IT_IS)
        lines = [f"{method} {self._line.target(path)} HTTP/1.1", f"host: {origin.authority}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, f"content-length: {len(sent)}", "\r\n"])
        try:
            _, writer = await asyncio.open_connection(origin.host, origin.port, ssl=origin.scheme == "https" or None)
            writer.write(head.encode() + sent)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except OSError as fault:
            raise Broken(f"{method} {path}: {fault}") from None

    def _signed(self, method: str, target: str, body: bytes, signing: Signing) -> dict[str, str]:
        signed = signed_part(
            signing.method or method,
            target if signing.path is None else self._line.target(signing.path),
            body if signing.body is None else signing.body,
        )
        now_s = int(self._clock.now().timestamp()) + signing.shift_s
        headers = signed_headers(signing.secrets or (self._secret,), f"req_{uuid4().hex}", now_s, signed)
        if signing.leaves_out == "all":
            headers = {}
        elif signing.leaves_out is not None:
            del headers[signing.leaves_out]
        return {**headers, "content-type": JSON} if body else headers

    @property
    def secret(self) -> str:
        return self._secret

    @property
    def wait_s(self) -> float:
        """How long the server may take for what it decides later."""
        return self._wait_s

    # --- Transfers ---

    def facts(self, number: str | None = None, **changed: Any) -> dict[str, Any]:
        return {
            "account": {"number": number or self.accounts.open},
            "amount": AMOUNT,
            "points": POINTS,
            "programme": "conformance@1",
            "asked_at": self._clock.now(),
            **changed,
        }

    async def put(self, id_: str, facts: Mapping[str, Any]) -> Said:
        """The answer to a transfer; a later decision is waited for."""
        said = await self.ask("PUT", f"/transfers/{id_}", facts)
        if said.status == HTTPStatus.ACCEPTED:
            expect(said, 202, JSON, id_, state={"pending"})
            said = await self._decided(id_)
        return self._noted(id_, said)

    async def get(self, id_: str) -> Said:
        return self._noted(id_, await self.ask("GET", f"/transfers/{id_}"))

    async def act(self, id_: str, act: str) -> Said:
        """`act` is cancel or reverse."""
        said = await self.ask("POST", f"/transfers/{id_}/{act}")
        if said.status == HTTPStatus.ACCEPTED:
            expect(said, 202, JSON, id_, state={"pending"})
            said = await self._decided(id_)
        return self._noted(id_, said)

    async def credited(self, facts: Mapping[str, Any] | None = None) -> tuple[str, Said]:
        """A new id that is credited, and what was said of it."""
        id_ = new_id()
        said = expect_credited(await self.put(id_, facts or self.facts()), id_)
        return id_, said

    async def refused(self, number: str) -> tuple[str, Said]:
        """A new id that is refused for ever."""
        id_ = new_id()
        return id_, expect_refused(await self.put(id_, self.facts(number)), id_)

    async def check_not_credited(self, id_: str) -> None:
        said = await self.get(id_)
        if said.status == HTTPStatus.NOT_FOUND:
            return
        expect(said, 200, JSON, id_, state={"rejected", "cancelled"})

    def _noted(self, id_: str, said: Said) -> Said:
        if said.status == HTTPStatus.OK and said.document.get("id") == id_:
            self.heard[str(said.document.get("state"))].add(id_)
        if (
            said.status == HTTPStatus.UNPROCESSABLE_ENTITY
            and said.document.get("id") == id_
            and said.document.get("type") != "not-reversible"
        ):
            self.heard["cancelled" if said.document.get("type") == "cancelled" else "rejected"].add(id_)
        return said

    async def _decided(self, id_: str) -> Said:
        """What `GET` says once it is decided, as the answer that would have come at once."""
        until, look_s = time.monotonic() + self._wait_s, _FIRST_LOOK_S
        while (said := await self.get(id_)).document.get("state") == "pending":
            if time.monotonic() > until:
                raise Broken(f"{id_} is pending for more than {self._wait_s:g} s")
            await asyncio.sleep(look_s)
            look_s = min(2 * look_s, _LONGEST_LOOK_S)
        if said.document.get("state") == "rejected":
            return Said(422, PROBLEM, said.document)
        return said

    # --- Statements ---

    def days(self) -> list[date]:
        """The days, in UTC, that this run has touched."""
        today = self._clock.now().astimezone(UTC).date()
        return [self.began + timedelta(days=n) for n in range((today - self.began).days + 1)]

    async def statement(self, day: date) -> Said:
        said = await self.ask("GET", f"/statement?date={day.isoformat()}")
        return expect(said, 200, JSON)

    async def lines(self) -> list[Mapping[str, Any]]:
        """The lines of the days of this run."""
        found: list[Mapping[str, Any]] = []
        for day in self.days():
            lines = (await self.statement(day)).document.get("lines")
            if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
                raise Broken("lines: a list of objects was expected")
            found += lines
        return found


def new_id() -> str:
    return str(uuid4())


def _said(answer: Answer) -> Said:
    try:
        document = orjson.loads(answer.body) if answer.body else {}
    except orjson.JSONDecodeError:
        document = {}
    return Said(answer.status, answer.media_type, document if isinstance(document, dict) else {})


def expect(
    said: Said,
    status: int,
    media_type: str,
    id_: str | None = None,
    *,
    state: Collection[str] | None = None,
    type_: Collection[str] | None = None,
) -> Said:
    """Raises `Broken` where something else was said."""
    wanted = [
        said.status == status,
        said.media_type == media_type,
        id_ is None or said.document.get("id") == id_,
        state is None or said.document.get("state") in list(state),
        type_ is None or said.document.get("type") in list(type_),
    ]
    if all(wanted):
        return said
    words = "".join(
        f", {name} {' or '.join(map(repr, sorted(values)))}"
        for name, values in (("state", state), ("type", type_), ("id", [id_] if id_ else None))
        if values is not None
    )
    raise Broken(f"{status} as {media_type}{words} was expected, and {said.words} came")


def expect_credited(said: Said, id_: str, amount: int = AMOUNT) -> Said:
    expect(said, 200, JSON, id_, state={"credited"})
    if said.document.get("amount") != amount or isinstance(said.document.get("amount"), bool):
        raise Broken(f"{amount} points were to be credited, and {brief(repr(said.document.get('amount')))} were told")
    return said


def expect_refused(said: Said, id_: str, *types: str) -> Said:
    return expect(said, 422, PROBLEM, id_, type_=types or REFUSALS)


def expect_problem(said: Said, *statuses: int) -> Said:
    """A problem document that says nothing of a transfer."""
    if said.status not in statuses or said.media_type != PROBLEM:
        wanted = " or ".join(map(str, statuses))
        raise Broken(f"{wanted} as {PROBLEM} was expected, and {said.words} came")
    return said
