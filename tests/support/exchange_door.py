"""The routes of exchanges without a server, and partners and people who call them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx
from fastapi import APIRouter

from abacus.api.auth import Access
from abacus.api.guarded_app import guarded_app
from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.platform.encryption import Secrets
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.platform.rooms import Rooms
from tests.support.exchanges import a_partner
from tests.support.staff import hire

_CLOCK = SystemClock()


class ExchangeDoor:
    """Callers are closed with it."""

    def __init__(self, app: object, pool: Pool, people: PeopleDirectory) -> None:
        self._app = app
        self._pool = pool
        self._people = people
        self.callers: list[httpx.AsyncClient] = []

    async def partner(
        self, name: str, *, may_spend: bool = True, may_adjust: bool = False, may_see_others: bool = False
    ) -> httpx.AsyncClient:
        """A partner that has made an app for members."""
        key = LIVE_KEY.new()
        made = a_partner(name, _CLOCK)._replace(
            may_spend=may_spend, may_adjust=may_adjust, may_see_others=may_see_others
        )
        await PartnerStore(self._pool, _CLOCK).create(made, Limits(), key)
        return self._caller(key.text)

    async def person(self, name: str, *roles: str) -> httpx.AsyncClient:
        token = await hire(self._pool, name, *roles)
        await self._people.refresh()
        return self._caller(token)

    def _caller(self, key: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(self._app)  # type: ignore[arg-type]  # an ASGI application
        headers = {"Authorization": f"Bearer {key}"}
        self.callers.append(httpx.AsyncClient(transport=transport, base_url="http://house", headers=headers))
        return self.callers[-1]


@asynccontextmanager
async def exchange_door(pool: Pool, routers: Sequence[APIRouter], *rooms: object) -> AsyncIterator[ExchangeDoor]:
    people, limiter = PeopleDirectory(PeopleStore(pool, _CLOCK), _CLOCK), RateLimiter(BucketStore(pool), _CLOCK)
    access = Access(
        clock=_CLOCK,
        directory=Directory(PartnerStore(pool, _CLOCK), _CLOCK),
        people=people,
        signing_secrets=SigningSecrets(Secrets.of(None)),
        limiter=limiter,
        rooms=Rooms(*rooms),
    )
    served = guarded_app("Exchanges", "With partners.", [*routers], access, Health([]), keys="a key")
    door = ExchangeDoor(served, pool, people)
    yield door
    for each in door.callers:
        await each.aclose()
    await limiter.close()
