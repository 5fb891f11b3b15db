"""What holds for every page: its twin, its headers, who may see it, and that forms come from pages of the session."""

import json
import re

import asyncpg
import pytest

from abacus.console.app import POLICY, SERVED
from abacus.console.web.page import plain
from abacus.people.decide.rights import may
from abacus.people.types.person import Actor, Grant, Role
from abacus.platform.postgres import Pool
from tests.console.addresses import address
from tests.console.desk import desk, token_in
from tests.console.furnished import furnished
from tests.console.markup_rules import broken_rules

PAGES = [each.path for each in SERVED if each.method == "GET" and not each.is_file]
PARTS = 4  # of the pages, which processes share
GUARDED = {"content-security-policy": POLICY, "cache-control": "no-store", "x-content-type-options": "nosniff"}
FORMS = [each.path for each in SERVED if each.method == "POST"]


@pytest.mark.parametrize("part", range(PARTS))
async def test_a_page_has_a_twin_and_guarded_headers(pool: Pool, part: int) -> None:
    """One house for many pages, because a furnished one takes longer than a page."""
    async with desk(pool) as open_desk:
        eve, approval = await open_desk.inside("eve", "admin"), await furnished(open_desk)
        loaded: set[str] = set()
        for path in PAGES[part::PARTS]:
            here = address(path, approval)
            page, twin = await eve.see(here), await eve.twin(here)
            assert (path, page.status_code, twin.status_code) == (path, 200, 200)
            assert (path, page.headers["content-type"]) == (path, "text/html; charset=utf-8")
            assert (path, twin.headers["content-type"]) == (path, "application/json")
            assert twin.json()["title"] in page.text, path
            command = twin.json()["command"]
            assert command is None or command.startswith("abacus "), path
            for answer in (page, twin):
                assert (path, {name: answer.headers[name] for name in GUARDED}) == (path, GUARDED)
            assert (path, re.findall(r"<script(?! src=)|<style|\sstyle=|\son\w+=", page.text)) == (path, [])
            assert (path, broken_rules(page.text)) == (path, [])
            loaded.update(re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text))
        assert [(await eve.see(each)).status_code for each in loaded] == [200] * len(loaded)
    assert POLICY.startswith("default-src 'self';")
    assert "unsafe" not in POLICY


@pytest.mark.long
@pytest.mark.parametrize("role", [None, *Role])
async def test_pages_are_for_those_whose_role_allows_them(pool: Pool, role: Role | None) -> None:
    async with desk(pool) as open_desk:
        approval = await furnished(open_desk)
        await open_desk.hire("eve", "viewer")
        who = await (open_desk.browser() if role is None else open_desk.inside("someone", role))
        actor = Actor("someone", (Grant(role),) if role is not None else ())
        answers, wanted = {}, {}
        for served in SERVED:
            if served.method == "GET" and not (served.is_stream and role is not None):
                answers[served.path] = (await who.twin(address(served.path, approval))).status_code
                wanted[served.path] = 401 if role is None else 200 if may(actor, served.deed, None) else 403
        assert answers == wanted
        if role is None:
            for path in PAGES:
                assert (await who.see(address(path, approval))).headers["location"].startswith("/sign-in?next=/")
        else:
            navigation = (await who.see("/me")).text.partition("</nav>")[0]
            assert ('href="/people"' in navigation) is (role is Role.ADMIN)


@pytest.mark.long
async def test_forms_are_taken_from_pages_of_the_same_session_alone(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        approval = await furnished(open_desk)
        eve = await open_desk.inside("eve", "admin")
        other = await open_desk.inside("other", "admin")
        foreign, own = token_in((await other.see("/me")).text), token_in((await eve.see("/me")).text)
        before = await pool.fetchval("select count(*) from audit_log")
        for path in FORMS:
            here = address(path, approval)
            for typed in ({}, {"form": foreign}, {"form": ""}, {"form": "é"}):
                sent = await eve.client.post(
                    here, data={"digest": "0" * 64, "roles": "viewer", "reason": "no", **typed}
                )
                assert (path, sent.status_code) == (path, 403)
            plain = await eve.client.post(here, json={"form": own})
            assert (path, plain.status_code) == (path, 415)
        assert await pool.fetchval("select count(*) from audit_log") == before
        assert (await eve.see("/")).status_code == 200


async def test_what_is_not_there_has_a_page_and_a_problem(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "viewer")
        for path in (
            "/nowhere",
            "/static/htmx.lock.json",
            "/static/../app.py",
            "/approvals/00000000-0000-0000-0000-000000000000",
        ):
            page, twin = await eve.see(path), await eve.twin(path)
            assert (page.status_code, twin.status_code) == (404, 404)
            assert page.headers["content-security-policy"] == POLICY
            assert twin.headers["content-type"] == "application/problem+json"
            assert twin.json()["type"] == "/problems/not-found"
        wrong = await eve.client.request("DELETE", "/approvals", headers={"Accept": "application/json"})
        assert (wrong.status_code, wrong.json()["type"]) == (405, "/problems/method-not-allowed")


async def test_probes_need_nobody(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        anyone = await open_desk.browser()
        assert (await anyone.see("/healthz")).json() == {"status": "alive"}
        assert (await anyone.see("/readyz")).status_code == 503


async def test_a_part_whose_dependency_is_down_says_since_when_and_the_rest_is_there(
    pool: Pool, database_url: str
) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        await furnished(open_desk)
        await _as_owner(database_url, "alter table quarantine rename to quarantine_away")
        first = {each["name"]: each["part"] for each in (await eve.twin("/")).json()["cards"]}
        since = first["quarantine"]["down"]["since"]
        assert (first["quarantine"]["value"], first["quarantine"]["down"]["dependency"]) == (None, "database")
        assert first["approvals"]["value"]["all"] == 4
        open_desk.clock.pass_(seconds=30)
        again = {each["name"]: each["part"] for each in (await eve.twin("/")).json()["cards"]}
        assert again["quarantine"]["down"]["since"] == since
        page = await eve.see("/")
        assert page.status_code == 200
        assert "The database does not answer since" in page.text
        assert "Limits of the partner acme" in page.text


async def test_without_the_database_a_page_says_so(pool: Pool, database_url: str) -> None:
    async with desk(pool) as open_desk:
        eve = await open_desk.inside("eve", "admin")
        await _as_owner(database_url, "alter table console_session rename to console_session_away")
        page, twin = await eve.see("/"), await eve.twin("/")
        assert (page.status_code, twin.status_code) == (503, 503)
        assert "The database does not answer since <time" in page.text
        assert twin.json()["type"] == "/problems/unavailable"


def test_values_are_json() -> None:
    assert json.dumps(plain({"a": (1, None), "b": {Role.ADMIN}})) == '{"a": [1, null], "b": ["admin"]}'


async def _as_owner(database_url: str, statement: str) -> None:
    owner = await asyncpg.connect(database_url)
    try:
        await owner.execute(statement)
    finally:
        await owner.close()
