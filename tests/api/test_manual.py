"""`/docs` shows the API and tries it, with nothing from elsewhere."""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from abacus.api import manual
from tests.support.house import House
from tests.support.shop import shop

MANUAL = Path(manual.__file__).parent
LOCK: dict[str, Any] = json.loads((MANUAL / "swagger-ui.lock.json").read_text(encoding="utf-8"))


def test_the_files_are_those_of_the_lock() -> None:
    vendored = {file.name: file.read_bytes() for file in (MANUAL / "swagger-ui").iterdir()}
    assert {name: _integrity(data) for name, data in vendored.items()} == LOCK["files"]
    assert LOCK.keys() == {"name", "version", "integrity", "files"}
    assert LOCK["version"].encode() in vendored["swagger-ui-bundle.js"]


def test_the_licences_stand_beside_them() -> None:
    assert {"LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"} <= LOCK["files"].keys()


@pytest.mark.parametrize("name", ["index.html", "start.js"])
def test_the_page_names_no_other_host_and_holds_no_script(name: str) -> None:
    text = (MANUAL / name).read_text(encoding="utf-8")
    assert re.findall(r"https?:|//\w+\.", text) == []
    assert re.findall(r"<script(?! src=)|<style|\son\w+=", text) == []


@pytest.mark.long
async def test_the_page_and_all_that_it_loads_come_from_the_api(house: House) -> None:
    async with shop(house) as opened, httpx.AsyncClient(base_url=opened.url) as anyone:
        page = await anyone.get("/docs")
        assert page.headers["content-type"].startswith("text/html")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self';" in policy
        assert "connect-src 'self';" in policy
        loaded = re.findall(r'(?:href|src)="([^"]+)"', page.text)
        answers = {name: await anyone.get(f"/{name}") for name in loaded}
        assert {name: answer.status_code for name, answer in answers.items()} == dict.fromkeys(loaded, 200)
        assert {Path(name).name for name in loaded} == {
            "start.js",
            "swagger-ui-bundle.js",
            "swagger-ui.css",
            "favicon-32x32.png",
        }
        assert answers["docs/start.js"].headers["content-type"].startswith("text/javascript")
        for other in ("LICENSE", "..%2F__init__.py", "swagger-ui.lock.json"):
            assert (await anyone.get(f"/docs/{other}")).status_code == 404
        document = (await anyone.get("/openapi.json")).json()
        assert document["servers"] == [{"url": "/"}]
        assert not [path for path in document["paths"] if path.startswith("/docs")]
        card = document["components"]["schemas"]["RateCardDocument"]
        assert card["properties"]["expiry_months"]["type"] == "integer"
        assert card["examples"][0]["scope"] == "SG"


async def test_the_document_names_the_public_address(house: House) -> None:
    settings = house.settings.model_copy(update={"api_public_url": "https://points.example.com"})
    async with shop(house, settings=settings) as opened, httpx.AsyncClient(base_url=opened.url) as anyone:
        document = (await anyone.get("/openapi.json", headers={"Host": "evil.example.com"})).json()
        assert document["servers"] == [{"url": "https://points.example.com"}]
        policy = (await anyone.get("/docs")).headers["content-security-policy"]
        assert "connect-src 'self' https://points.example.com;" in policy


def _integrity(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()
