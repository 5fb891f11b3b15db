"""The API of a test's house, partners with keys, and callers."""

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import httpx

from abacus.api.wiring import Patience, api
from abacus.bootstrap import Wire
from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from tests.support.house import House, until
from tests.support.logged import limits_logged
from tests.support.ports import free_port

GRANT: dict[str, Any] = {"member_id": "bob", "country": "SG", "points": 100, "reason": "Welcome"}
MEAL: dict[str, Any] = {
    "transaction_id": "A-1",
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": "15.00",
    "currency": "SGD",
    "occurred_at": "2026-05-10T12:30:00+08:00",
}
# All of it is plain HTTP; reading the machine's certificates for each caller would take longer than the calls.
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def register(house: House, partner_id: str = "acme", limits: Limits | None = None, **changes: Any) -> str:
    """A partner's key."""
    return await new_partner(house.pool, partner_id, limits, **changes)


async def new_partner(pool: Pool, partner_id: str, limits: Limits | None = None, **changes: Any) -> str:
    """The same in a house that is known by its database."""
    key = LIVE_KEY.new()
    clock = SystemClock()
    partner = Partner(
        partner_id,
        partner_id.title(),
        fixed_points=True,
        computed_points=True,
        countries=(),
        card_scope=None,
        requests_per_minute=100_000,
        signing_secret=None,
        created_at=clock.now(),
        created_by="tests",
        disabled_at=None,
        may_spend=True,
    )._replace(**changes)
    await PartnerStore(pool, clock).create(partner, limits or Limits(), key, also=limits_logged(partner.partner_id))
    return key.text


@dataclass(frozen=True)
class Shop:
    """A running API, counts, offers, places, or console."""

    url: str
    health: Health
    _stack: AsyncExitStack

    async def caller(self, key: str) -> httpx.AsyncClient:
        return await self._stack.enter_async_context(
            httpx.AsyncClient(
                base_url=self.url, headers={"Authorization": f"Bearer {key}"}, timeout=30, verify=_NO_CERTIFICATES
            )
        )


def shop(
    house: House, *beside: str, settings: Settings | None = None, patience: Patience | None = None
) -> AbstractAsyncContextManager[Shop]:
    """The API, and other workers beside it, in this process."""
    wired_so = {} if patience is None else {"api": partial(api, patience=patience)}
    return _serving(house, ("api", *beside), "api_port", settings, wired_so)


def count_desk(house: House, settings: Settings | None = None) -> AbstractAsyncContextManager[Shop]:
    """The counts, in this process."""
    return _serving(house, ("counts",), "counts_port", settings)


def offer_desk(house: House, settings: Settings | None = None, *beside: str) -> AbstractAsyncContextManager[Shop]:
    """The offers, and other workers beside them, in this process."""
    return _serving(house, ("offers", *beside), "offers_port", settings)


def place_desk(house: House, settings: Settings | None = None) -> AbstractAsyncContextManager[Shop]:
    """What is near a point, in this process."""
    return _serving(house, ("places",), "places_port", settings)


def console_of(house: House, settings: Settings | None = None) -> AbstractAsyncContextManager[Shop]:
    """The console, in this process."""
    return _serving(house, ("console",), "console_port", settings)


@asynccontextmanager
async def _serving(
    house: House,
    workers: Sequence[str],
    port_setting: str,
    settings: Settings | None,
    wired_so: Mapping[str, Wire] = MappingProxyType({}),
) -> AsyncIterator[Shop]:
    port = free_port()
    given = (settings or house.settings).model_copy(update={port_setting: port})
    async with AsyncExitStack() as stack:
        health = await stack.enter_async_context(house.running(*workers, settings=given, wired_so=wired_so))

        async def ready() -> bool:
            return health.ready

        await until(ready)
        yield Shop(f"http://127.0.0.1:{port}", health, stack)


async def award(
    caller: httpx.AsyncClient, key: str, body: dict[str, Any] | None = None, **headers: str
) -> httpx.Response:
    return await caller.post("/v1/awards", json=body or GRANT, headers={"Idempotency-Key": key, **headers})
