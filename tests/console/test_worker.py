"""The console as a worker, and the commands by which people get into it."""

import re

import httpx
import pytest

from abacus.console.app import POLICY
from abacus.console.entry.decide.codes import bytes_of, code_at
from abacus.console.entry.wiring import plan_of
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.platform.encryption import new_keyring_text
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from tests.console.desk import PASSWORD, Browser
from tests.support.commands import Ran, abacus
from tests.support.house import House
from tests.support.shop import console_of
from tests.support.staff import hire


@pytest.mark.long
async def test_people_get_in_by_what_the_commands_print(house: House) -> None:
    settings = house.settings.model_copy(update={"secrets_key": new_keyring_text("k1")})
    async with console_of(house, settings) as opened, httpx.AsyncClient(base_url=opened.url) as client:
        env = {
            "ABACUS_DATABASE_URL": settings.required("database_url"),
            "ABACUS_SECRETS_KEY": settings.secrets_key or "",
            "ABACUS_CONSOLE_PUBLIC_URL": opened.url,
        }
        assert (await client.get("/readyz")).json()["ready"]
        assert (await abacus("people", "create", "ann", "--role", "approver", env=env)).code == 0
        assert (await abacus("people", "password", "ann", env=env, typed=f"{PASSWORD}\n")).code == 0
        ann = Browser(client)
        assert (await ann.sign_in("ann")).status_code == 303
        assert "ann" in (await ann.see("/me")).text
        assert (await ann.send("/me", "/sign-out")).status_code == 303
        uri = (await abacus("people", "totp", "ann", "--json", env=env)).json["uri"]
        assert (await ann.sign_in("ann")).status_code == 403
        secret = bytes_of(uri.partition("secret=")[2].partition("&")[0])
        entered = await ann.sign_in("ann", code=code_at(secret, SystemClock().now()))
        assert entered.status_code == 303
        assert (await abacus("people", "totp", "ann", "--remove", env=env)).code == 0
        link = (await abacus("console", "link", "ann", "--json", env=env)).json["link"]
        assert link.startswith(f"{opened.url}/sign-in/link?token=abl_")
        assert (await ann.send("/me", "/sign-out")).status_code == 303
        assert (await ann.send(link.removeprefix(opened.url), "/sign-in/link")).status_code == 303
        assert "link" in (await ann.see("/me")).text


async def test_a_request_has_an_id_and_a_limit(house: House) -> None:
    async with console_of(house) as opened, httpx.AsyncClient(base_url=opened.url) as client:
        asked = await client.get("/sign-in", headers={"X-Request-Id": "r-1"})
        assert (asked.status_code, asked.headers["x-request-id"]) == (200, "r-1")
        large = await client.post("/sign-in", content=b"x" * (3 << 20))
        assert (large.status_code, large.headers["content-security-policy"]) == (413, POLICY)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert (await client.post("/sign-in", content=b"a=" + b"x" * (300 << 10), headers=form)).status_code == 413


COMMANDS = [("people", "password"), ("people", "totp"), ("console", "link")]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
async def test_ways_in_are_made_by_an_admin_or_the_person_itself(
    pool: Pool, database_url: str, words: tuple[str, ...]
) -> None:
    tokens = {name: await hire(pool, name, role) for name, role in (("eve", "admin"), ("bob", "viewer"))}

    async def run(who: str, token: str | None, typed: str = f"{PASSWORD}\n") -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url} | ({"ABACUS_TOKEN": token} if token else {})
        return await abacus(*words, who, env=env, typed=typed)

    runs = [("bob", tokens["eve"]), ("bob", tokens["bob"]), ("eve", tokens["bob"]), ("bob", None), ("x", tokens["eve"])]
    assert [(await run(who, token)).code for who, token in runs] == [0, 0, 2, 2, 1]
    if words[1] == "password":
        short = await run("bob", tokens["bob"], "short\n")
        assert (short.code, "12 to 1000 characters" in short.err) == (2, True)
        assert re.findall("short", short.err) == []


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({}, None),
        ({"console_oidc_issuer": "https://login.example"}, "go together"),
        ({"console_oidc_client_id": "abacus"}, "go together"),
        ({"console_oidc_issuer": "http://login.example", "console_oidc_client_id": "a"}, "an https address is needed"),
        ({"console_oidc_groups": '{"a": ["king"]}'}, "ABACUS_CONSOLE_OIDC_GROUPS: no role is called 'king'"),
        ({"console_oidc_groups": "x"}, "ABACUS_CONSOLE_OIDC_GROUPS: "),
        ({"console_code_for": "approver, admin"}, None),
        ({"console_code_for": "king"}, "ABACUS_CONSOLE_CODE_FOR: no role is called king"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, str], fault: str | None) -> None:
    given = Settings.model_validate(settings)
    if fault is None:
        assert plan_of(given).address.public_url == "http://127.0.0.1:8083"
    else:
        with pytest.raises(Refused, match=fault):
            plan_of(given)


@pytest.mark.long
async def test_operations_are_told_as_they_change_until_the_session_ends(house: House) -> None:
    async with console_of(house) as opened, httpx.AsyncClient(base_url=opened.url, timeout=20) as client:
        env = {"ABACUS_DATABASE_URL": house.settings.required("database_url")}
        assert (await abacus("people", "create", "ann", "--role", "viewer", env=env)).code == 0
        assert (await abacus("people", "password", "ann", env=env, typed=f"{PASSWORD}\n")).code == 0
        ann = Browser(client)
        assert (await client.get("/operations/live", headers={"Accept": "application/json"})).status_code == 401
        assert (await ann.sign_in("ann")).status_code == 303
        shown = (await ann.twin("/operations")).json()
        assert {each["queue"] for each in shown["queues"]["value"]} >= {f"{house.settings.queue_prefix}award"}
        assert (shown["groups"]["down"]["dependency"], shown["not_read"]) == ("kafka", {})  # it has no topic yet
        async with client.stream("GET", "/operations/live") as events:
            assert events.headers["content-type"].startswith("text/event-stream")
            lines = events.aiter_lines()
            seen = [await anext(lines) for _ in range(5)]
            assert seen == [": listening", "", "event: changed", "data:", ""]
            assert (await ann.send("/me", "/sign-out")).status_code == 303
            assert {line async for line in lines} <= {"", "event: changed", "data:"}  # and then it ends
