"""The routes of a new kind with states: `sales.py` declares them in a line."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final
from uuid import UUID

import asyncpg
import httpx
import pytest

from abacus.api.auth import Access
from abacus.api.guarded_app import guarded_app
from abacus.core.clock import SystemClock
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.store import PartnerStore
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.people.types.person import Actor, Grant, Role
from abacus.platform.encryption import Secrets
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.platform.rooms import Rooms
from tests.documents.sales import ROUTES, SPRING, TABLES, sale_approvals, sale_desk
from tests.support.staff import hire

pytestmark = pytest.mark.once

Client = httpx.AsyncClient
WHY: Final = {"reason": "because"}


@pytest.fixture
async def caller(pool: Pool, database_url: str) -> AsyncIterator[Callable[[str, str], Awaitable[Client]]]:
    """Callers of an application that has the routes of sales alone, by name and role."""
    owner = await asyncpg.connect(database_url)
    await owner.execute(TABLES)
    await owner.close()
    clock = SystemClock()
    people, limiter = PeopleDirectory(PeopleStore(pool, clock), clock), RateLimiter(BucketStore(pool), clock)
    access = Access(
        clock=clock,
        directory=Directory(PartnerStore(pool, clock), clock),
        people=people,
        signing_secrets=SigningSecrets(Secrets.of(None)),
        limiter=limiter,
        rooms=Rooms(sale_desk(pool, clock)),
    )
    app = guarded_app("Sales", "Less for a time.", [ROUTES.router()], access, Health([]), keys="a person's token")
    opened: list[Client] = []

    async def called(name: str, role: str) -> Client:
        headers = {"Authorization": f"Bearer {await hire(pool, name, role)}"}
        await people.refresh()
        opened.append(Client(transport=httpx.ASGITransport(app), base_url="http://sales", headers=headers))
        return opened[-1]

    yield called
    for each in opened:
        await each.aclose()
    await limiter.close()


async def test_a_sale_is_submitted_approved_seen_and_moved(
    caller: Callable[[str, str], Awaitable[Client]], pool: Pool
) -> None:
    ann, eve = await caller("ann", "country_editor:SG"), Actor("eve", (Grant(Role.APPROVER),))
    await caller("eve", "approver")
    submitted = (await ann.post("/v1/sales", json=SPRING)).json()
    assert [submitted["sale"][each] for each in ("name", "version", "state")] == ["spring", 1, "submitted"]
    assert submitted["sale"]["sale"] == SPRING
    cases: list[tuple[str, str, Any, int, str | None]] = [
        ("POST", "/v1/sales/lint", SPRING, 200, None),
        ("POST", "/v1/sales/lint", {**SPRING, "percent": 0}, 422, "/problems/invalid"),
        ("POST", "/v1/sales", SPRING, 409, "/problems/campaign-state"),
        ("GET", "/v1/sales/summer", None, 404, "/problems/not-found"),
        ("GET", "/v1/sales/spring", None, 200, "submitted"),
        ("POST", "/v1/sales/spring/withdraw", WHY, 200, "draft"),
        ("POST", "/v1/sales/spring/pause", WHY, 409, "/problems/campaign-state"),
        ("POST", "/v1/sales/spring/pause", {}, 422, "/problems/invalid"),
    ]
    for case in cases:
        assert await _outcome(ann, case) == case[3:]
    again = (await ann.post("/v1/sales/spring/submit")).json()["approval"]
    await sale_approvals(pool, SystemClock()).approve(UUID(again["approval_id"]), eve, again["digest"])
    for act, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
        assert (await ann.post(f"/v1/sales/spring/{act}", json=WHY)).json()["state"] == state
    page = (await ann.get("/v1/sales", params={"state": "ended"})).json()
    assert ([each["approved_by"] for each in page["sales"]], page["next"]) == (["person:eve"], None)
    assert len((await ann.get("/v1/sales/spring/versions")).json()["versions"]) == 1


async def test_rights_are_those_of_the_kind(caller: Callable[[str, str], Awaitable[Client]]) -> None:
    ann, vic, eli = [
        await caller(*each)
        for each in (("ann", "country_editor:SG"), ("vic", "viewer:SG"), ("eli", "country_editor:ID"))
    ]
    assert (await ann.post("/v1/sales", json=SPRING)).status_code == 202
    denied: list[tuple[Client, tuple[str, str, Any, int, str | None]]] = [
        (vic, ("POST", "/v1/sales", SPRING, 403, "/problems/role-needed")),
        (vic, ("POST", "/v1/sales/lint", SPRING, 403, "/problems/role-needed")),
        (vic, ("POST", "/v1/sales/spring/end", WHY, 403, "/problems/role-needed")),
        (vic, ("GET", "/v1/sales/spring", None, 200, "submitted")),
        (eli, ("GET", "/v1/sales/spring", None, 404, "/problems/not-found")),
        (eli, ("POST", "/v1/sales/spring/end", WHY, 404, "/problems/not-found")),
    ]
    for client, case in denied:
        assert await _outcome(client, case) == case[3:]


async def _outcome(client: Client, case: tuple[str, str, Any, int, str | None]) -> tuple[int, str | None]:
    method, path, body, *_ = case
    answer = await client.request(method, path, json=body)
    shown = answer.json()
    return answer.status_code, shown.get("state") or shown.get("type")
