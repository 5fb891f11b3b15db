"""Test keys exchange points in the sandbox: by live programmes, with a partner that is played, and nothing live."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple

import httpx
import pytest

from abacus.exchanges.metrics import ANSWERS, EXCHANGES
from abacus.platform.encryption import new_keyring_text
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from tests.api.sandboxes import LIMITS, access, rows
from tests.support.exchanges import SKYMILES, run_programme
from tests.support.house import House, until
from tests.support.problems import kind
from tests.support.rewards import give_points
from tests.support.shop import GRANT, award, register, shop

pytestmark = [pytest.mark.long, pytest.mark.once]

KEYRING: Final = new_keyring_text("one")
DOCUMENT: Final = {
    **SKYMILES,
    "starts_at": "2099-01-01T00:00:00+08:00",
    "ends_at": "2100-01-01T00:00:00+08:00",
    "carrier": {"url": "https://nobody.invalid/abacus"},
    "cooling_off": "1d",
    "review_above": 2000,
    "reverses_for": "30d",
    "out": {**SKYMILES["out"], "caps": {"member_day": 4000, "day": 1000}},
}


class Sandbox(NamedTuple):
    """Callers with a test key of an app, with one of a programme's partner, and with the app's live key."""

    app: httpx.AsyncClient
    skyline: httpx.AsyncClient
    live: httpx.AsyncClient

    async def has(self, member: str, points: int) -> None:
        for n in range(0, points, 500):
            body = {**GRANT, "member_id": member, "points": 500}
            given = await award(self.app, f"{member}-{n}", body, Prefer="wait=10")
            assert given.status_code == 201, given.text

    async def links(self, member: str, number: str, **asked: Any) -> httpx.Response:
        path = f"/v1/members/{member}/links"
        link = await self.app.post(path, json={"programme": "skymiles", "number": number, "name": "Bob Tan", **asked})
        assert link.status_code == 201, link.text
        code = {"code": "000000"} if asked else {}
        return await self.app.post(f"{path}/{link.json()['link_id']}/verify", json=code)

    async def converts(self, member: str, points: int = 1000, key: str = "1") -> httpx.Response:
        asked = {"member_id": member, "programme": "skymiles", "points": points}
        quote = await self.app.post("/v1/exchange-quotes", json=asked)
        assert quote.status_code == 201, quote.text
        headers = {"Idempotency-Key": f"{member}-{key}"}
        return await self.app.post("/v1/exchanges", json={"quote_id": quote.json()["quote_id"]}, headers=headers)

    async def comes_to(self, exchange_id: str, state: str) -> list[str]:
        """Its trail."""
        answer: dict[str, Any] = {}

        async def there() -> bool:
            answer.update((await self.app.get(f"/v1/exchanges/{exchange_id}")).json())
            return bool(answer["state"] == state)

        await until(there)
        return [each["state"] for each in answer["trail"]]

    async def statement(self, day: date) -> dict[str, Any]:
        asked = {"programme": "skymiles", "date": day.isoformat()}
        told: dict[str, Any] = (await self.skyline.get("/v1/exchange-statement", params=asked)).json()
        return told

    async def points(self, member: str) -> tuple[int, int]:
        (account,) = (await self.app.get(f"/v1/members/{member}")).json()["accounts"]
        return account["balance"], account["held"]


@pytest.fixture
async def opened(house: House, sandbox: Pool) -> AsyncIterator[Sandbox]:
    """The programme begins in the far future, and its partner has no server. Bob has points and no link elsewhere."""
    await give_points(house.pool, ["bob"], 7)
    live = await register(house, limits=LIMITS)
    await register(house, "skyline", may_exchange=True, may_spend=False)
    app, skyline = [(await access(house, sandbox, each))[0] for each in ("acme", "skyline")]
    await run_programme(house.pool, DOCUMENT)
    settings = house.settings.model_copy(update={"secrets_key": KEYRING})
    async with AsyncExitStack() as stack:
        running = await stack.enter_async_context(shop(house, settings=settings))
        yield Sandbox(*[await running.caller(each) for each in (app, skyline, live)])


async def test_points_leave_come_back_and_come_in(house: House, opened: Sandbox) -> None:
    """Of the live house no row changes, and nothing is counted."""
    before, counted = await rows(house.pool, "public"), [total(each) for each in (EXCHANGES, ANSWERS)]
    began = datetime.now(UTC).date()
    await opened.has("bob", 5000)
    assert (await opened.links("bob", "SKY 1234 5678")).json()["status"] == "verified"
    assert kind(await opened.converts("bob", 4500, "0")) == "exchange-limit-reached"
    converted = await opened.converts("bob", 2500)
    assert (converted.status_code, converted.json()["state"]) == (202, "review")
    assert converted.headers["abacus-mode"] == "test"
    one = converted.json()["exchange_id"]
    assert await opened.comes_to(one, "captured") == ["review", "held", "sent", "credited", "captured"]
    assert await opened.points("bob") == (2500, 0)
    assert kind(await opened.live.get(f"/v1/exchanges/{one}")) == "not-found"
    assert (await opened.app.post(f"/v1/exchanges/{one}/reverse")).status_code == 202
    await opened.comes_to(one, "reversed")
    assert await opened.points("bob") == (5000, 0)
    listed = (await opened.app.get("/v1/exchanges", params={"member_id": "bob"})).json()["exchanges"]
    assert [each["exchange_id"] for each in listed] == [one]

    for account, member in (("sky-12345678", "bob"), ("linked-eve", "linked-eve")):
        path = f"/v1/inbound-exchanges/{member}-1"
        reserved = await opened.skyline.put(path, json={"account": account, "points": 1000})
        assert (reserved.status_code, reserved.json()["state"]) == (200, "reserved"), reserved.text
        assert (await opened.skyline.post(f"{path}/commit")).status_code == 202
        await until(lambda path=path: _is_awarded(opened.skyline, path))
    assert [await opened.points(each) for each in ("bob", "linked-eve")] == [(6500, 0), (1500, 0)]
    unknown = await opened.skyline.put("/v1/inbound-exchanges/3", json={"account": "12", "points": 1000})
    assert kind(unknown) == "invalid"
    dropped = await opened.skyline.put("/v1/inbound-exchanges/4", json={"account": "1234", "points": 1000})
    assert kind(dropped) == "account-unknown"
    assert (await opened.skyline.post("/v1/inbound-exchanges/4/cancel")).json()["state"] == "dropped"
    days = {began, datetime.now(UTC).date()}
    statements = [await opened.statement(each) for each in days]
    assert (sum(each["count"] for each in statements), sum(each["sums"]["credit"] for each in statements)) == (2, 3000)
    assert await rows(house.pool, "public") == before
    assert [total(each) for each in (EXCHANGES, ANSWERS)] == counted


async def _is_awarded(caller: httpx.AsyncClient, path: str) -> bool:
    return bool((await caller.get(path)).json()["state"] == "awarded")


async def test_refusals_and_cancels_are_tried_by_invented_names(house: House, opened: Sandbox) -> None:
    before = await rows(house.pool, "public")
    for member in ("bob", "held-bob"):
        await opened.has(member, 1000)
    closed = (await opened.links("bob", "000000001-bob")).json()
    assert (closed["status"], closed["reason"]) == ("refused", "account-closed")
    assert (await opened.links("bob", "000000001-bob", send_code=True)).json()["status"] == "verified"
    refused = (await opened.converts("bob")).json()["exchange_id"]
    assert (await opened.comes_to(refused, "released"))[-2:] == ["rejected", "released"]
    assert (await opened.app.get(f"/v1/exchanges/{refused}")).json()["reason"] == "account-closed"
    assert (await opened.links("held-bob", "held 1")).json()["status"] == "verified"
    held = (await opened.converts("held-bob")).json()
    assert (held["state"], await opened.points("held-bob")) == ("held", (1000, 1000))
    cancelled = await opened.app.post(f"/v1/exchanges/{held['exchange_id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["state"]) == (200, "released")
    assert [await opened.points(each) for each in ("bob", "held-bob")] == [(1000, 0), (1000, 0)]
    (link,) = (await opened.app.get("/v1/members/held-bob/links")).json()["links"]
    ended = await opened.app.delete(f"/v1/members/held-bob/links/{link['link_id']}")
    assert ended.json()["status"] == "ended"
    asked = {"member_id": "held-bob", "programme": "skymiles", "points": 1000}
    assert kind(await opened.app.post("/v1/exchange-quotes", json=asked)) == "no-link"
    assert await rows(house.pool, "public") == before
