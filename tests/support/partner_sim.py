"""The reference partner on a port of its own, and the house's side of the line to it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

import orjson

from abacus.api.http.limits import HttpLimits
from abacus.api.server import bound, serve
from abacus.core.clock import SystemClock
from abacus.exchanges.carriers.http import PATIENCE, HttpPartner
from abacus.exchanges.carriers.line import Line
from abacus.exchanges.decide.contract import JSON, Answer
from abacus.exchanges.decide.signing import signed_part
from abacus.exchanges.partner_sim.partner import ReferencePartner
from abacus.exchanges.types import Account, Transfer
from abacus.platform.delivery.decide.signature import new_secret, signed_headers
from abacus.platform.reading.breaker import Breaker

_MOST_OF_LEDGER: Final = 1024 * 1024 * 1024
ASKED_AT: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)


class Partner:
    """A partner that is up: what the house asks of it by `port`, and by hand."""

    def __init__(self, url: str, secret: str) -> None:
        self.url = url
        self.secret = secret
        self.line = Line(url, to_private=True, at_once=200)
        self.breaker = Breaker("partner", PATIENCE)
        self.port = HttpPartner("partner", self.line, self._secrets, SystemClock(), self.breaker, within_s=30)

    async def _secrets(self) -> list[str]:
        return [self.secret]

    async def asked(self, method: str, path: str, document: object = None, *, within_s: float = 30) -> Answer:
        """As the operator asks, or anybody without a signature."""
        body = b"" if document is None else orjson.dumps(document)
        headers = {"content-type": JSON}
        return await self.line.ask(method, path, headers, body, within_s=within_s, most_bytes=_MOST_OF_LEDGER)

    async def signed(self, method: str, path: str, document: object = None) -> Answer:
        body = b"" if document is None else orjson.dumps(document)
        now_s = int(SystemClock().now().timestamp())
        headers = signed_headers([self.secret], f"req_{uuid4()}", now_s, signed_part(method, path, body))
        return await self.line.ask(method, path, {**headers, "content-type": JSON}, body)

    async def behaves(self, **asked: Any) -> None:
        answer = await self.asked("PUT", "/_behave", asked)
        assert answer.status == 200, answer.body

    async def ledger(self) -> Mapping[str, Any]:
        document: Mapping[str, Any] = orjson.loads((await self.asked("GET", "/_ledger")).body)
        return document

    async def balance(self, number: str) -> int:
        return sum(each["balance"] for each in (await self.ledger())["accounts"] if each["number"] == number)

    async def state(self, exchange_id: UUID) -> str | None:
        rows = [each for each in (await self.ledger())["transfers"] if each["id"] == str(exchange_id)]
        return rows[0]["state"] if rows else None


def transfer(number: str = "12345678", amount: int = 500, *, exchange_id: UUID | None = None) -> Transfer:
    return Transfer(exchange_id or uuid4(), Account(number), amount, 2 * amount, "skymiles@1", ASKED_AT)


def today() -> date:
    return datetime.now(UTC).date()


@contextlib.asynccontextmanager
async def partner_sim(
    file: Path | None = None,
    *,
    secret: str | None = None,
    callbacks: str | None = None,
    house: str | None = None,
    house_key: str = "",
) -> AsyncIterator[Partner]:
    """The partner, with its ledger in memory or in the file, served in this loop."""
    secret = secret or new_secret()
    reference = ReferencePartner(
        secret, SystemClock(), file=file, callbacks=callbacks, house=house, house_key=house_key
    )
    listener = bound("127.0.0.1", 0, "the test")
    partner = Partner(f"http://127.0.0.1:{listener.getsockname()[1]}", secret)
    stop = asyncio.Event()
    serving = asyncio.gather(
        serve(reference.app, listener, stop, HttpLimits(connections=0, connections_per_address=0)), reference.run(stop)
    )
    try:
        yield partner
    finally:
        await partner.line.close()
        stop.set()
        await serving
        await reference.close()
