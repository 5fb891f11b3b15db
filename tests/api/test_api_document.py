"""schemathesis against the OpenAPI document: no 5xx, no undocumented status, and each body as described."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.support.counters import RAIN, publish_counter, publish_weather
from tests.support.house import House
from tests.support.offers import document, run_offers
from tests.support.shop import Shop, count_desk, offer_desk, place_desk, register, shop
from tests.support.staff import hire

pytestmark = pytest.mark.once

SEED = 20261121
EXAMPLES = 5  # an operation and phase; some 1,250 requests in all, most to cover the document
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.parametrize(("application", "fewest"), [(shop, 100), (count_desk, 10), (offer_desk, 20)])
async def test_every_body_and_every_error_has_an_example(
    house: House, application: Callable[[House], AbstractAsyncContextManager[Shop]], fewest: int
) -> None:
    async with application(house) as opened:
        anyone = await opened.caller("nobody")
        document = (await anyone.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    bodies = {
        (path, method, what): content
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for what, said in [("request", operation.get("requestBody", {})), *operation["responses"].items()]
        for content in said.get("content", {}).values()
    }
    assert len(bodies) > fewest
    assert [place for place, content in bodies.items() if not _has_example(content, schemas)] == []


def _has_example(content: dict[str, Any], schemas: dict[str, Any]) -> bool:
    schema = content["schema"]
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    of_each = [{"schema": each} for each in schema.get("anyOf", schema.get("oneOf", []))]
    told = bool(content.get("examples") or schema.get("examples"))
    return told or (bool(of_each) and all(_has_example(each, schemas) for each in of_each))


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_the_api_is_as_its_document_says_to_a_partner(house: House, tmp_path: Path) -> None:
    """Documents of every kind are refused to partners in one place; those of journeys stand for all."""
    async with shop(house, "awarder") as opened:
        others = "--exclude-path-regex=^/v1/(campaigns|exchange-programmes|offers|rewards)"
        await _as_documented(opened, tmp_path, await register(house), others, operations=64)


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_the_api_is_as_its_document_says_to_a_person(house: House, tmp_path: Path) -> None:
    """The operations that are for people, too."""
    key = await hire(house.pool, "ann", "admin")
    people = "--include-path-regex=approvals|adjustments|reverse|campaigns|offers|rewards|journeys"
    async with shop(house, "awarder") as opened:
        await _as_documented(opened, tmp_path, key, people, operations=54)


@pytest.mark.long
async def test_the_counts_are_as_their_document_says(house: House, tmp_path: Path) -> None:
    await publish_counter(house.pool, RAIN, await publish_weather(house.pool))
    async with count_desk(house) as opened:
        await _as_documented(opened, tmp_path, await register(house, may_count=True), operations=3)


@pytest.mark.long
async def test_the_offers_are_as_their_document_says(house: House, tmp_path: Path) -> None:
    await run_offers(house.pool, document(limits={"unlimited": True}))
    key = await register(house, may_use_offers=True, may_explain_offers=True)
    async with offer_desk(house) as opened:
        await _as_documented(opened, tmp_path, key, operations=7)


@pytest.mark.long
async def test_the_places_are_as_their_document_says(house: House, tmp_path: Path) -> None:
    async with place_desk(house) as opened:
        await _as_documented(opened, tmp_path, await register(house, may_use_offers=True), operations=5)


async def _as_documented(opened: Shop, folder: Path, key: str, *options: str, operations: int) -> None:
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("schemathesis")),
        f"--config-file={CONFIGURATION}",
        "run",
        f"{opened.url}/openapi.json",
        f"--header=Authorization: Bearer {key}",
        f"--max-examples={EXAMPLES}",
        f"--seed={SEED}",
        "--no-color",
        *options,
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said = (await process.stdout.read()).decode()
    assert await process.wait() == 0, said
    assert f"Tested: {operations}" in said
