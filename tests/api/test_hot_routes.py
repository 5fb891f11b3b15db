"""A route before the framework answers as the framework would: the same status, the same problem, the same body."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Query, Request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from abacus.api import problems
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, PersonCall
from abacus.api.front import MOST_BYTES, Front
from abacus.api.hot import HotRoute, HotRoutes
from abacus.api.hot_paths import Address
from abacus.api.lean import LeanRoute, read_body
from abacus.core.errors import Unavailable

pytestmark = pytest.mark.once


class Order(BaseModel):
    """So many plates."""

    model_config = ConfigDict(extra="forbid")

    plates: Annotated[int, Field(strict=True, ge=1, le=9)]


class SeatsQuery(BaseModel):
    """How many sit at a table."""

    model_config = ConfigDict(extra="forbid")

    seats: Annotated[int, Field(ge=1)] = 2


LEAN = [Address("POST", "/v1/tables/{table}/orders"), Address("GET", "/v1/tables/{table}")]

Table = Annotated[int, Field(ge=1)]


async def served(_: Call | PersonCall, order: Order) -> bytes:
    match order.plates:
        case 7:
            raise ApiProblem("not-found", "no table has seven chairs")
        case 8:
            raise Unavailable("kitchen", "it is closed")
        case 9:
            raise RuntimeError("a plate broke")
        case plates:
            return json.dumps({"plates": plates}).encode()


def application(*, hot: bool) -> ASGIApp:
    router = APIRouter(route_class=LeanRoute, default_response_class=Response)

    @router.post("/v1/orders")
    async def orders(order: Order, request: Request) -> Response:
        return Response(await served(request.scope["state"]["call"], order), media_type="application/json")

    @router.post("/v1/tables/{table}/orders")
    async def orders_of(table: Table, request: Request) -> Response:
        order = await read_body(request, Order.model_validate)
        plates = await served(request.scope["state"]["call"], order)
        return Response(plates, 201, media_type="application/json", headers={"table": str(table)})

    @router.get("/v1/tables/{table}")
    async def table(table: Table, request: Request, seats: Annotated[SeatsQuery, Query()]) -> Response:
        place = {"table": table, "seats": seats.seats, "asked": str(request.query_params)}
        return Response(json.dumps(place), media_type="application/json")

    app = FastAPI()
    problems.install(app)
    app.router.routes.extend(router.routes)
    inner: ASGIApp = HotRoutes(app, {"/v1/orders": HotRoute(TypeAdapter(Order), served)}, LEAN) if hot else app

    async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["call"] = None
        await inner(scope, receive, send)

    return Front(let_in)


@pytest.fixture(params=[True, False], ids=["hot", "by the framework"])
async def shop(request: pytest.FixtureRequest) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(application(hot=request.param), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://shop") as client:
        yield client


JSON = "application/json"
HUGE = b'{"plates": 1}' + b" " * MOST_BYTES


async def in_parts() -> AsyncIterator[bytes]:
    yield b'{"pla'
    yield b'tes": 4}'


async def endless() -> AsyncIterator[bytes]:
    for _ in range(3):
        yield b" " * MOST_BYTES


Content = bytes | Callable[[], AsyncIterator[bytes]]


@pytest.mark.parametrize(
    ("content", "content_type", "status", "told"),
    [
        (b'{"plates": 3}', JSON, 200, {"plates": 3}),
        (b'{"plates": 3}', "application/json; charset=utf-8", 200, {"plates": 3}),
        (b'{"plates": 3}', "application/vnd.orders+json", 200, {"plates": 3}),
        (in_parts, JSON, 200, {"plates": 4}),
        (b'{"plates": 3}', "text/plain", 415, "unsupported-media-type"),
        (b"plates=3", JSON, 400, "malformed"),
        (b"\xff\xfe", JSON, 400, "malformed"),
        (b'{"plates": 1, "plates": 2}', JSON, 422, "/plates"),
        (b'{"plates": 0}', JSON, 422, "/plates"),
        (b'{"plates": "3"}', JSON, 422, "/plates"),
        (b'{"plates": 3, "forks": 3}', JSON, 422, "/forks"),
        (b"[]", JSON, 422, ""),
        (b"", JSON, 422, ""),
        (b'{"plates": 7}', JSON, 404, "not-found"),
        (b'{"plates": 8}', JSON, 503, "unavailable"),
        (b'{"plates": 9}', JSON, 500, "internal"),
        (HUGE, JSON, 413, "too-large"),
        (endless, JSON, 413, "too-large"),
    ],
)
async def test_what_is_sent_is_answered(
    shop: httpx.AsyncClient, content: Content, content_type: str, status: int, told: Any
) -> None:
    sent = content if isinstance(content, bytes) else content()
    answer = await shop.post("/v1/orders", content=sent, headers={"content-type": content_type})
    assert answer.status_code == status, answer.text
    document = answer.json()
    if status == 200:
        assert (answer.headers["content-type"], document) == (JSON, told)
        return
    assert answer.headers["content-type"] == "application/problem+json"
    assert document["request_id"] == answer.headers["x-request-id"]
    if status == 422:
        assert (document["type"], document["errors"][0]["pointer"]) == ("/problems/invalid", told)
    else:
        assert document["type"] == f"/problems/{told}"


async def test_another_method_is_refused_with_the_one_there_is(shop: httpx.AsyncClient) -> None:
    answer = await shop.get("/v1/orders")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("request_line", "content", "status", "told"),
    [
        ("POST /v1/tables/7/orders", b'{"plates": 3}', 201, {"plates": 3}),
        ("POST /v1/tables/7/orders", b'{"plates": 0}', 422, "/plates"),
        ("POST /v1/tables/0/orders", b'{"plates": 3}', 422, "path/table"),
        ("POST /v1/tables/7/orders", b'{"plates": 8}', 503, None),
        ("POST /v1/tables/7/8/orders", b'{"plates": 3}', 404, None),
        ("POST /v1/tables//orders", b'{"plates": 3}', 404, None),
        ("GET /v1/tables/7/orders", b"", 405, None),
        ("PUT /v1/tables/7/orders", b'{"plates": 3}', 405, None),
    ],
)
async def test_a_path_with_a_part_that_varies(
    shop: httpx.AsyncClient, request_line: str, content: bytes, status: int, told: Any
) -> None:
    answer = await shop.request(*request_line.split(), content=content, headers={"content-type": JSON})
    assert answer.status_code == status, answer.text
    document = answer.json()
    if status == 422:
        assert document["errors"][0]["pointer"] == told
    elif told is not None:
        assert (answer.headers["table"], document) == ("7", told)


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("", 200, {"table": 7, "seats": 2, "asked": ""}),
        ("?seats=4", 200, {"table": 7, "seats": 4, "asked": "seats=4"}),
        ("?seats=0", 422, "query/seats"),
        ("?chairs=4", 422, "query/chairs"),
    ],
)
async def test_a_query_is_read_as_the_framework_reads_it(
    shop: httpx.AsyncClient, query: str, status: int, told: Any
) -> None:
    answer = await shop.get(f"/v1/tables/7{query}")
    document = answer.json()
    assert (answer.status_code, document["errors"][0]["pointer"] if status == 422 else document) == (status, told)
