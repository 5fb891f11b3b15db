"""Requests that break off, or are refused on every route: no 500, no traceback, no status that is not documented."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any, Final
from uuid import uuid4

import httpx
import pytest
from structlog.testing import capture_logs

from abacus.api.metrics import REQUESTS
from abacus.intake.partners.decide.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER
from abacus.platform.health import Health
from abacus.platform.metrics import total
from abacus.process import run_workers
from tests.support.house import House, until
from tests.support.ports import free_port
from tests.support.shop import Shop, register, shop
from workers import wires

pytestmark = pytest.mark.once


@pytest.mark.parametrize("signing_secret", [None, "s3cret"])
async def test_a_caller_that_hangs_up_midway_is_no_fault_of_ours(house: House, signing_secret: str | None) -> None:
    async with shop(house) as opened:
        key = await register(house, signing_secret=signing_secret)
        hung_up, failed = total(REQUESTS, status="499"), total(REQUESTS, status="500")
        head = f"POST /v1/awards HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nidempotency-key: k\r\n"
        head += "content-type: application/json\r\ncontent-length: 1000\r\n\r\n"
        with capture_logs() as logs:
            anyone = await opened.caller("nobody")
            for _ in range(5):
                _, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(opened.url).port)
                writer.write(head.encode() + b'{"member_id":')
                await writer.drain()
                # The API reads its connections in turn: when this one is answered, the other one's beginning was read.
                assert (await anyone.get("/healthz")).status_code == 200
                writer.transport.abort()

            async def counted() -> bool:
                return total(REQUESTS, status="499") == hung_up + 5

            await until(counted)
        assert total(REQUESTS, status="500") == failed
        assert [each for each in logs if each["log_level"] == "error"] == []


async def test_partners_do_not_see_each_other_in_metrics(house: House) -> None:
    """Nor does anybody else who reaches the API. The operator's port has them."""
    port, settings = free_port(), house.settings
    stop, wired = asyncio.Event(), wires(["api"])
    health = Health(wired)
    working = asyncio.create_task(run_workers(wired, settings, health, stop, health_port=port))
    try:

        async def ready() -> bool:
            return health.ready

        async with httpx.AsyncClient() as anyone:
            api, operators = f"http://127.0.0.1:{settings.api_port}", f"http://127.0.0.1:{port}"
            await until(ready)
            key = await register(house)
            for headers in ({}, {"Authorization": f"Bearer {key}"}):
                assert (await anyone.get(f"{api}/metrics", headers=headers)).status_code == 404
            for address in (api, operators):
                assert (await anyone.get(f"{address}/healthz")).status_code == 200
                assert (await anyone.get(f"{address}/readyz")).status_code == 200
            assert "abacus_partner_awards" in (await anyone.get(f"{operators}/metrics")).text
    finally:
        stop.set()
        await working


# Bodies and headers that no route takes; each route is sent each of them.
BAD: Final[list[tuple[bytes, dict[str, str]]]] = [
    (b"{", {"Content-Type": "application/json"}),
    (b"{}", {"Content-Type": "text/plain"}),
    (b"{}", {"Content-Type": "application/json"}),
    (b'{"actor":"a","actor":"b"}', {"Content-Type": "application/json"}),
    (b" " * (2 * 1024 * 1024 + 1), {"Content-Type": "application/json"}),
    (b"", {SIGNATURE_HEADER: "v1=0", TIMESTAMP_HEADER: "0"}),
]


async def answers(opened: Shop, document: dict[str, Any], key: str) -> AsyncIterator[tuple[str, httpx.Response]]:
    """The answers of every documented operation to every bad request, under each of its documented statuses."""
    async with httpx.AsyncClient(base_url=opened.url, timeout=30) as caller:
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                place = re.sub(r"\{\w*_id\}", str(uuid4()), path)
                for body, headers in BAD:
                    for authorization in (f"Bearer {key}", "Bearer nobody"):
                        given = {"Authorization": authorization, "Idempotency-Key": "k", **headers}
                        yield operation["operationId"], await caller.request(method, place, content=body, headers=given)
                twice = [("Authorization", f"Bearer {key}"), ("Idempotency-Key", "k"), ("Idempotency-Key", "l")]
                yield operation["operationId"], await caller.request(method, place, headers=twice)


@pytest.mark.long
async def test_every_refusal_of_every_route_is_documented(house: House) -> None:
    async with shop(house) as opened:
        key = await register(house)
        async with httpx.AsyncClient(base_url=opened.url) as anyone:
            document = json.loads((await anyone.get("/openapi.json")).text)
        documented = {
            operation["operationId"]: set(operation["responses"])
            for operations in document["paths"].values()
            for operation in operations.values()
        }
        seen: set[tuple[str, str]] = set()
        async for operation, answer in answers(opened, document, key):
            assert answer.status_code < 500, (operation, answer.text)
            seen.add((operation, str(answer.status_code)))
        assert {status for _, status in seen} >= {"400", "401", "413", "415", "422"}
        assert sorted(each for each in seen if each[1] not in documented[each[0]]) == []
        assert [name for name, statuses in documented.items() if not statuses >= {"400", "408", "431"}] == []
