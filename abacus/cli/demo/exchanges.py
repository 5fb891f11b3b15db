"""A partner of the demo with whom points are exchanged: miles become points, and points become miles, over HTTP and by
a file. The reference partner runs beside the house while this lasts, and the programmes end with it.

Each exchange becomes a line that a person reads.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve
from abacus.cli.demo.catalogue import COUNTRY, of_the_demo
from abacus.cli.demo.counter import Counter, asked, told
from abacus.cli.demo.demo_partner import demo_partner
from abacus.cli.terminal.command_actor import CommandActor
from abacus.core.errors import Absent, Unavailable
from abacus.core.sources import Agent
from abacus.documents.decide.states import Act
from abacus.engage.notify.decide.news import ExchangeCode
from abacus.engage.notify.decide.notice import Notice
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.carriers.files.file_keeper import MOST_LINES
from abacus.exchanges.carriers.files.file_rows import FileRows
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.link_desk import LinkDesk, Wanted
from abacus.exchanges.link_store import LinkStore
from abacus.exchanges.partner_sim.partner import ReferencePartner
from abacus.exchanges.types import Account, PartnerPort
from abacus.intake.partners.decide.partner import LIVE_KEY
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.types.limits import Limits
from abacus.people.store.approvals import Approvals
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Pool

MEMBER: Final = "mia"
_PARTNER: Final = "demo-skyline"
_NUMBER: Final = "SKY 1234 5678"
_HOLDER: Final = "Mia Tan"
_MILES: Final = "demo_miles"
_BY_FILE: Final = "demo_miles_by_file"
_PREFUND: Final = Decimal(100)
_DAYS: Final = 300
_BROUGHT: Final = 2_000  # miles
_GIVEN: Final = 1_000  # points, by each carrier
_WITHIN_S: Final = 60
_LOOK_EVERY_S: Final = 0.1
_LIMITS: Final = HttpLimits(connections=0, connections_per_address=0)
_TERMS: Final[Mapping[str, Any]] = {
    "partner": _PARTNER,
    "program": "GRP",
    "unit": "miles",
    "out": {"give": 5, "get": 2, "minimum": 500, "multiple": 500, "maximum": 100_000, "price": "0.012"},
    "money": {"currency": "SGD", "tax_code": "ZR", "alert_below": "10"},
}
_IN: Final = {"give": 2, "get": 3, "minimum": 1000, "multiple": 100, "maximum": 50_000, "price": "0.004"}


class People(NamedTuple):
    """Who enters a partner, who writes its programmes, and who approves them."""

    operator: CommandActor
    approvals: Approvals
    editor: Actor
    approver: Actor


@asynccontextmanager
async def partner_beside(people: People, secrets: Secrets, api: str) -> AsyncIterator["Skyline"]:
    """A partner that is entered and paid in advance, with its server and its folder, until the block ends."""
    at, key = people.operator, LIVE_KEY.new()
    also = at.does(Deed.EDIT_LIMITS, f"partner:{_PARTNER}", did="create", limits=Limits()._asdict())
    partner = demo_partner(_PARTNER, "Skyline", [COUNTRY], at, awards=False)._replace(may_exchange=True)
    await PartnerStore(at.pool, at.clock, secrets).replace(partner, Limits(), key, also=also)
    async with AsyncExitStack() as stack:
        listener = bound("127.0.0.1", 0, "the demo's partner")
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        secret = await _shared_secret(at, secrets, url)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="abacus-skyline-")))
        reference = ReferencePartner(
            secret,
            at.clock,
            callbacks=f"{api}/v1/exchange-callbacks/{_MILES}",
            house=api,
            house_key=key.text,
            folder=folder,
        )
        stack.push_async_callback(reference.close)
        stop = asyncio.Event()
        serving = asyncio.gather(serve(reference.app, listener, stop, _LIMITS), reference.run(stop))
        try:
            async with httpx.AsyncClient(base_url=url, timeout=20) as operator:
                skyline = Skyline(people, secrets, operator)
                await skyline.agree(url, folder)
                yield skyline
                await skyline.part()
        finally:
            stop.set()
            await serving


class Skyline:
    """The partner, as the house and the partner's own operator drive it."""

    def __init__(self, people: People, secrets: Secrets, operator: httpx.AsyncClient) -> None:
        self._people = people
        self._pool: Pool = people.operator.pool
        self._clock = people.operator.clock
        self._desk = ProgrammeDesk(self._pool, self._clock, people.approvals, to_private=True)
        self._links = LinkStore(self._pool, secrets)
        self._operator = operator
        self._agreed: list[Programme] = []

    async def agree(self, url: str, folder: Path) -> None:
        """Two programmes: one over HTTP and both ways, one by files."""
        now = self._clock.now()
        documents = (
            {**_TERMS, "name": _MILES, "in": _IN, "carrier": {"url": url}},
            {**_TERMS, "name": _BY_FILE, "carrier": {"place": str(folder), "cut_off": "23:59"}},
        )
        for each in of_the_demo(documents, now, _DAYS):
            draft = await self._desk.read({**each, "starts_at": now.isoformat()}, await self._desk.around())
            submitted, asked_ = await self._desk.propose(draft, self._people.editor)
            await self._people.approvals.approve(asked_.approval_id, self._people.approver, asked_.digest)
            self._agreed.append(submitted.document)
        books, by = BooksDesk(self._pool, self._clock), self._people.operator.actor
        for programme in self._agreed:
            reference = f"{programme.name}-{now:%Y%m%d%H%M%S%f}"
            await books.pay(programme, reference, _PREFUND, paid_on=now.date(), month=None, by=by)

    async def part(self) -> None:
        for each in self._agreed:
            await self._desk.move(each, Act.END, "the demo is over", self._people.editor)

    async def exchange(self, counter: Counter, mark: str) -> list[str]:
        """Miles come in, and points go out by both carriers."""
        await self._link(counter)
        brought = {"number": _NUMBER, "points": _BROUGHT}
        told(await self._operator.post("/_earn", json=brought))
        sent = told(await self._operator.post("/_send", json={**brought, "id": mark}))
        before = await _balance(counter)
        await _until(lambda: _is_more(counter, before), "the points of miles")
        lines = [
            f"{MEMBER} sends {_BROUGHT:,} miles under {sent['id']}: {await _balance(counter) - before:,} points come"
        ]
        by_file = await self._converted(counter, _BY_FILE, f"{mark}-file")
        over_http = await self._converted(counter, _MILES, f"{mark}-http")
        lines.append(await self._came(counter, over_http, "at once"))
        made = await self._made_file(by_file)
        return [*lines, await self._came(counter, by_file, f"by {made}")]

    async def _link(self, counter: Counter) -> None:
        """One account the partner is asked about, the other is verified by a code that the member is told."""
        path = f"/v1/members/{MEMBER}/links"
        wanted = {"programme": _MILES, "number": _NUMBER, "name": _HOLDER}
        link = told(await _once_in_force(counter, path, wanted))
        told(await asked(counter.api, f"{path}/{link['link_id']}/verify", {}))
        heard, around = _Heard(), await self._desk.around()
        in_force = Programmes(InForce(each, around) for each in self._agreed)
        desk = LinkDesk(self._links, self._clock, lambda: in_force, _nobody, heard)
        by = Agent(self._people.operator.actor.name, self._people.operator.actor.source)
        asked_ = await desk.ask(MEMBER, Wanted(_BY_FILE, Account(_NUMBER, _HOLDER), sends_code=True), by)
        await desk.verify(asked_, heard.code, by)

    async def _converted(self, counter: Counter, programme: str, key: str) -> str:
        wish = {"member_id": MEMBER, "programme": programme, "points": _GIVEN}
        quote = told(await _once_in_force(counter, "/v1/exchange-quotes", wish))
        order = {"quote_id": quote["quote_id"]}
        return str(told(await asked(counter.api, "/v1/exchanges", order, key=key))["exchange_id"])

    async def _came(self, counter: Counter, exchange_id: str, how: str) -> str:
        found: dict[str, Any] = {}

        async def is_captured() -> bool:
            found.update(told(await counter.api.get(f"/v1/exchanges/{exchange_id}")))
            return bool(found["state"] == State.CAPTURED)

        await _until(is_captured, exchange_id)
        states = ", ".join(each["state"] for each in found["trail"])
        return f"{MEMBER} gives {found['points']:,} points for {found['theirs']:,} miles {how}: {states}"

    async def _made_file(self, exchange_id: str) -> str:
        """The file of the day, once the exchange waits for it."""
        programme, rows = next(each for each in self._agreed if each.name == _BY_FILE), FileRows(self._pool)
        waits = "select count(*) from exchange_order where exchange_id = $1::uuid"

        async def is_there() -> bool:
            return bool(await self._pool.fetchval(waits, exchange_id))

        await _until(is_there, f"a line of {exchange_id}")
        now = self._clock.now()
        day = now.astimezone(programme.zone).date()
        return (await rows.make(programme.name, programme.partner, day, now, MOST_LINES)).name


async def _shared_secret(at: CommandActor, secrets: Secrets, url: str) -> str:
    """In a house that has had this partner before, the one of then."""
    webhooks = WebhookStore(at.pool, at.clock, secrets)
    try:
        return (await webhooks.receiver(_PARTNER)).secrets[0]
    except Absent:
        secret = new_secret()
        webhook = at.does(Deed.EDIT_PARTNERS, f"partner:{_PARTNER}", did="webhook", url=url)
        await webhooks.set(_PARTNER, url, secret, also=webhook)
        return secret


class _Heard:
    """What a member is told; the demo's member reads the code."""

    def __init__(self) -> None:
        self.code: str | None = None

    async def enter(self, notices: Sequence[Notice], *, gathered_for: timedelta) -> None:  # noqa: ARG002  # at once
        for each in notices:
            if isinstance(each.news, ExchangeCode):
                self.code = each.news.code


def _nobody(programme: Programme) -> PartnerPort:
    raise TypeError(f"the partner of {programme.name} is not asked")


async def _once_in_force(counter: Counter, path: str, body: Mapping[str, Any]) -> httpx.Response:
    """The API hears of a programme within a second."""
    answers: list[httpx.Response] = []

    async def is_known() -> bool:
        answers.append(await asked(counter.api, path, body))
        return not answers[-1].is_error

    await _until(is_known, path)
    return answers[-1]


async def _balance(counter: Counter) -> int:
    answer = await counter.api.get(f"/v1/members/{MEMBER}")
    if answer.status_code == HTTPStatus.NOT_FOUND:  # it has no account before its first points
        return 0
    return sum(each["balance"] for each in told(answer)["accounts"])


async def _is_more(counter: Counter, before: int) -> bool:
    return await _balance(counter) > before


async def _until(reached: Callable[[], Awaitable[bool]], what: str) -> None:
    """Raises `Unavailable` when it is not there within a minute."""
    try:
        async with asyncio.timeout(_WITHIN_S):
            while not await reached():  # noqa: ASYNC110  # it is other processes that get there
                await asyncio.sleep(_LOOK_EVERY_S)
    except TimeoutError:
        raise Unavailable("the exchanger", f"{what} is not done within {_WITHIN_S} s") from None
