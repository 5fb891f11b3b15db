"""schemathesis against the OpenAPI document: no 5xx, no undocumented status, and each body as described."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.house import House
from tests.support.shop import register, shop
from tests.support.staff import hire

SEED = 20261121
EXAMPLES = 5  # an operation and phase; some 1,250 requests in all, most to cover the document
CONFIGURATION = Path(__file__).with_name("schemathesis.toml")


async def test_every_body_and_every_error_has_an_example(house: House) -> None:
    async with shop(house) as opened:
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
    assert len(bodies) > 100
    assert [place for place, content in bodies.items() if not _has_example(content, schemas)] == []


def _has_example(content: dict[str, Any], schemas: dict[str, Any]) -> bool:
    schema = content["schema"]
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    of_each = [{"schema": each} for each in schema.get("anyOf", schema.get("oneOf", []))]
    told = bool(content.get("examples") or schema.get("examples"))
    return told or (bool(of_each) and all(_has_example(each, schemas) for each in of_each))


@pytest.mark.long
async def test_the_api_is_as_its_document_says_to_a_partner(house: House, tmp_path: Path) -> None:
    await _as_documented(house, tmp_path, await register(house), operations=23)


@pytest.mark.long
async def test_the_api_is_as_its_document_says_to_a_person(house: House, tmp_path: Path) -> None:
    """The operations that are for people, too."""
    key = await hire(house.pool, "ann", "admin")
    people = "--include-path-regex=approvals|adjustments|reverse"
    await _as_documented(house, tmp_path, key, people, operations=9)


async def _as_documented(house: House, folder: Path, key: str, *options: str, operations: int) -> None:
    async with shop(house, "awarder") as opened:
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
