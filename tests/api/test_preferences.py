"""How members want to be told, over HTTP."""

from typing import Any

import pytest

from tests.support.house import House, until
from tests.support.problems import kind
from tests.support.shop import award, register, shop

pytestmark = pytest.mark.once

DEFAULTS = {"member_id": "bob", "locale": None, "channels": None, "zone": None, "set_by": None, "set_at": None}


async def test_preferences_are_set_read_and_replaced(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house, may_see_others=True))
        assert (await acme.get("/v1/members/bob/preferences")).json() == DEFAULTS
        answer = await acme.put(
            "/v1/members/bob/preferences",
            json={"locale": "id", "channels": ["sns", "log", "sns"], "zone": "Asia/Jakarta"},
        )
        assert answer.status_code == 200
        said = answer.json()
        assert (said["locale"], said["channels"], said["set_by"]) == ("id", ["log", "sns"], "acme")
        assert said["zone"] == "Asia/Jakarta"
        assert (await acme.get("/v1/members/bob/preferences")).json() == said
        replaced = (await acme.put("/v1/members/bob/preferences", json={"channels": []})).json()
        assert (replaced["locale"], replaced["channels"], replaced["zone"]) == (None, [], None)
        slashed = await acme.put("/v1/members/a%2Fpreferences/preferences", json={"locale": "vi"})
        assert slashed.json()["member_id"] == "a/preferences"


BAD: list[tuple[Any, str, str]] = [
    ([], "invalid", ""),
    (None, "invalid", ""),
    ({"locale": "english"}, "invalid", "/locale"),
    ({"locale": "EN"}, "invalid", "/locale"),
    ({"locale": 7}, "invalid", "/locale"),
    ({"channels": ["fax"]}, "invalid", "/channels/0"),
    ({"channels": "sns"}, "invalid", "/channels"),
    ({"channels": ["log"] * 4}, "invalid", "/channels"),
    ({"zone": "Asia/Jakart"}, "invalid", "/zone"),
    ({"zone": 7}, "invalid", "/zone"),
    ({"tone": "friendly"}, "invalid", "/tone"),
]


@pytest.mark.long
async def test_bad_input_is_named(house: House) -> None:
    async with shop(house) as opened:
        acme = await opened.caller(await register(house, may_see_others=True))
        for body, problem, pointer in BAD:
            answer = await acme.put("/v1/members/bob/preferences", json=body)
            assert (answer.status_code, kind(answer)) == (422, problem), body
            assert answer.json()["errors"][0]["pointer"] == pointer
        no_json = await acme.put(
            "/v1/members/bob/preferences", content=b"{", headers={"Content-Type": "application/json"}
        )
        assert (no_json.status_code, kind(no_json)) == (400, "malformed")
        text = await acme.put("/v1/members/bob/preferences", content=b"{}", headers={"Content-Type": "text/plain"})
        assert (text.status_code, kind(text)) == (415, "unsupported-media-type")
        assert kind(await acme.put("/v1/members/%20bob/preferences", json={})) == "invalid"
        deleted = await acme.delete("/v1/members/bob/preferences")
        assert (deleted.headers["allow"], kind(deleted)) == ("GET, PUT", "method-not-allowed")
        acme.headers["Authorization"] = "Bearer abk_live_none"
        assert kind(await acme.put("/v1/members/bob/preferences", json={})) == "unauthorized"
        assert (await house.pool.fetchval("select count(*) from notification_preference")) == 0


@pytest.mark.long
@pytest.mark.parametrize(("countries", "status"), [((), 200), (("SG",), 200), (("TH",), 404)])
async def test_whose_members_they_are(house: House, countries: tuple[str, ...], status: int) -> None:
    async with shop(house, "awarder") as opened:
        everywhere = await opened.caller(await register(house, "everywhere"))
        asking = await opened.caller(await register(house, countries=countries, may_see_others=True))
        stranger = await asking.put("/v1/members/nobody/preferences", json={"locale": "th"})
        assert stranger.status_code == (404 if countries else 200)
        await award(everywhere, "a-1")

        async def posted() -> bool:
            return (await everywhere.get("/v1/members/bob")).status_code == 200

        await until(posted)
        for answer in (
            await asking.put("/v1/members/bob/preferences", json={"locale": "th"}),
            await asking.get("/v1/members/bob/preferences"),
        ):
            assert answer.status_code == status
