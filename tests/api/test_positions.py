"""Partners say where members are: the broker has what was accepted, and no answer says where a refused one was."""

import json
from datetime import timedelta
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.platform.kafka.ranges import last_of
from tests.support.house import House
from tests.support.problems import kind
from tests.support.shop import register, shop

NOW: Final = SystemClock().now()
HERE: Final = {"member_id": "bob", "lat": 1.3040718, "lon": 103.8318227, "accuracy_m": 8, "at": NOW.isoformat()}


async def published(house: House) -> list[dict[str, Any]]:
    topic, since = house.settings.positions_topic, NOW - timedelta(hours=1)
    records = await last_of(house.settings.required("kafka_bootstrap"), topic, since, 100, silent_after_s=5)
    return [json.loads(each.value) for each in records]


async def test_positions_go_to_the_broker_one_by_one(house: House) -> None:
    key = await register(house, may_send_positions=True)
    to_come = (NOW + timedelta(hours=1)).isoformat()
    wrong = (
        {"lat": 91.3040718},
        {"lon": "103.8318227"},
        {"at": to_come},
        {"member_id": ""},
        {"lat": 103.83, "lon": 1.304},
    )
    async with shop(house) as opened:
        caller = await opened.caller(key)
        answer = await caller.post("/v1/positions", json={"positions": [HERE, *({**HERE, **each} for each in wrong)]})
        assert answer.status_code == 202
        accepted, *refused = answer.json()["results"]
        assert accepted == {"outcome": "accepted"}
        pointers = [each["problem"]["errors"][0]["pointer"] for each in refused]
        assert pointers == [
            f"/positions/{place}/{name}" for place, name in enumerate(("lat", "lon", "at", "member_id", "lat"), 1)
        ]
        assert "3040718" not in answer.text
        assert "8318227" not in answer.text
        bodies: list[dict[str, object]] = [{"positions": [HERE] * 101}, {"positions": []}, {"positions": HERE}, {}]
        for body in bodies:
            assert kind(await caller.post("/v1/positions", json=body)) == "invalid"
    (message,) = await published(house)
    assert {**message, "at": HERE["at"]} == HERE


async def test_a_partner_needs_the_right_to_say_where_members_are(house: House) -> None:
    key = await register(house)
    async with shop(house) as opened:
        caller = await opened.caller(key)
        answer = await caller.post("/v1/positions", json={"positions": [HERE]})
    assert (answer.status_code, kind(answer)) == (403, "positions-not-allowed")
