"""Drafts whose messages ask for much: who may try one at all, and that everybody else is answered meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.api.test_api_approvals import kind, person
from tests.api.test_campaigns import MARKET
from tests.support.hostile_templates import REFUSED, SLOW
from tests.support.house import House
from tests.support.shop import Shop, shop


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(house) as it:
        yield it


def telling(template: str, **changes: Any) -> dict[str, Any]:
    return {**MARKET, "steps": [{"do": [{"tell": {"en": template}}]}], **changes}


async def test_rights_come_first(house: House, open_shop: Shop) -> None:
    """Whatever the document is, nobody looks at it."""
    eve = await person(house, open_shop, "eve", "viewer", "approver", "support")
    kim = await person(house, open_shop, "kim", "country_editor:ID")
    for document in (MARKET, {}, {**MARKET, "country": 7}, {**MARKET, "steps": "none"}, telling(SLOW)):
        for path in ("/v1/campaigns", "/v1/campaigns/lint"):
            assert kind(await eve.post(path, json=document)) == (403, "role-needed")
    assert kind(await kim.post("/v1/campaigns", json={**MARKET, "steps": "none"})) == (403, "role-needed")
    assert kind(await kim.post("/v1/campaigns/lint", json={**MARKET, "steps": "none"})) == (422, "invalid")


@pytest.mark.long
async def test_others_are_answered_while_a_slow_template_is_tried(house: House, open_shop: Shop) -> None:
    ann = await person(house, open_shop, "ann", "country_editor:SG")
    others: list[httpx.AsyncClient] = [await person(house, open_shop, name, "viewer") for name in ("eve", "kim")]
    for path in ("/v1/campaigns/lint", "/v1/campaigns"):
        trying = asyncio.create_task(ann.post(path, json=telling(f"{SLOW}{path}")))
        for other in others:
            assert (await other.get("/v1/campaigns")).status_code == 200
            assert not trying.done()
        answer = await trying
        assert kind(answer) == (422, "invalid")
        (error,) = answer.json()["errors"]
        assert (error["pointer"], error["detail"]) == (
            "/steps[0].do[0].tell.en",
            "does not render for transactions/transaction.completed: it takes too much time or memory",
        )


@pytest.mark.long
async def test_what_could_blow_up_is_told_by_its_pointer(house: House, open_shop: Shop) -> None:
    ann = await person(house, open_shop, "ann", "country_editor:SG")
    for template, fault in REFUSED[:3]:
        answer = await ann.post("/v1/campaigns/lint", json=telling(f"Hi\n{template}"))
        (error,) = answer.json()["errors"]
        assert error["pointer"] == "/steps[0].do[0].tell.en"
        assert fault in error["detail"]
