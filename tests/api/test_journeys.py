"""Journeys over HTTP: with a person's token, from a draft to its end."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from tests.api.test_api_approvals import decide, kind, person
from tests.support.house import House
from tests.support.shop import Shop, shop

pytestmark = pytest.mark.once

WELCOME: Final[dict[str, Any]] = {
    "name": "welcome",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": (datetime.now(UTC) + timedelta(days=30)).isoformat(),
    "entry": {"on": ["transaction.completed"]},
    "begin": "pause",
    "nodes": {
        "pause": {"wait": {"for": "2d"}, "next": "thanks"},
        "thanks": {"do": {"award": {"points": 50}}, "next": "through"},
        "through": {"exit": "through"},
    },
}


@pytest.fixture
async def open_shop(house: House) -> AsyncIterator[Shop]:
    async with shop(house) as it:
        yield it


@pytest.mark.long
async def test_a_journey_from_its_draft_to_its_end(house: House, open_shop: Shop) -> None:
    ann = await person(house, open_shop, "ann", "country_editor:SG")
    eve = await person(house, open_shop, "eve", "approver:SG")
    lost = {**WELCOME["nodes"], "lost": {"exit": "lost"}}
    linted = await ann.post("/v1/journeys/lint", json={**WELCOME, "nodes": lost})
    assert [each["pointer"] for each in linted.json()["errors"]] == ["/nodes.lost"]
    assert (await ann.post("/v1/journeys/lint", json=WELCOME)).json()["faults"] == []
    submitted = await ann.post("/v1/journeys", json=WELCOME)
    assert (submitted.status_code, submitted.json()["journey"]["state"]) == (202, "submitted")
    assert kind(await decide(ann, submitted.json()["approval"])) == (403, "role-needed")
    assert (await decide(eve, submitted.json()["approval"])).status_code == 200
    shown = (await ann.get("/v1/journeys/welcome")).json()
    assert (shown["state"], shown["approved_by"]) == ("running", "person:eve")
    assert kind(await ann.post("/v1/journeys", json=WELCOME)) == (409, "journey-state")
    for move, state in (("pause", "paused"), ("resume", "running"), ("end", "ended")):
        answer = await ann.post(f"/v1/journeys/welcome/{move}", json={"reason": "because"})
        assert (answer.status_code, answer.json()["state"]) == (200, state)
