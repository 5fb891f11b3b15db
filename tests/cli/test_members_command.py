"""`abacus members`: what it shows, its questions and refusals, and the logins that may erase."""

import uuid
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from tests.support.commands import Ran, abacus
from tests.support.forgetting import granted
from tests.support.house import House
from tests.support.staff import LOGIN

pytestmark = pytest.mark.once


@pytest.fixture
async def bob(house: House) -> House:
    awards = [granted(f"txn:rides:{number}", member_id="bob") for number in range(3)]
    await PostgresLedger(house.pool, SystemClock()).post(awards)
    return house


async def erase(house: House, *arguments: str, **changed: str) -> Ran:
    return await abacus("members", "erase", *arguments, env=house.environment() | changed)


async def accounts(house: House) -> list[str]:
    return [row[0] for row in await house.pool.fetch("select member_id from account")]


async def test_a_dry_run_shows_and_changes_nothing(bob: House) -> None:
    shown = await erase(bob, "bob", "--dry-run")
    assert shown.code == 0
    assert [line.split() for line in shown.out.splitlines()] == [["1", "account"], ["3", "claim"], ["3", "transfer"]]
    as_json = await erase(bob, "bob", "--dry-run", "--json")
    assert {name: count for name, count in as_json.json["rows"].items() if count} == {
        "account": 1,
        "claim": 3,
        "transfer": 3,
    }
    assert await accounts(bob) == ["bob"]


async def test_erased_and_recorded(bob: House) -> None:
    ran = await erase(bob, "bob", "--reason", "asked to", "--yes", "--json")
    assert ran.code == 0
    record: dict[str, Any] = ran.json
    assert await accounts(bob) == [record["pseudonym"]]
    assert (record["erased_by"], record["reason"]) == (LOGIN, "asked to")
    assert [(each["program"], each["transfers"], each["balance"]) for each in record["accounts"]] == [("GRP", 3, 30)]

    env = bob.environment()
    listed = await abacus("members", "erasures", "--json", env=env)
    assert listed.json == [{name: value for name, value in record.items() if name != "dry_run"}]
    assert record["pseudonym"] in (await abacus("members", "erasures", env=env | {"COLUMNS": "200"})).out
    assert (await abacus("ledger", "verify", "--json", env=env)).json["clean"]
    explained = await abacus("explain", "txn:rides:1", env=env)
    assert "granted by the partner acme: erased" in explained.out
    assert "recomputed now: same" in explained.out

    again = await erase(bob, "bob", "--reason", "asked to", "--yes")
    assert (again.code, again.err.strip()) == (
        1,
        "abacus: there is no member 'bob'; nothing is kept under this id",
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["bob"], "abacus: --reason: say why, it is kept with the erasure"),
        (["bob", "--reason", " ", "--yes"], "abacus: --reason: say why, it is kept with the erasure"),
        (["bob", "--reason", "bob asked to", "--yes"], "abacus: --reason: leave the member's id out, it would be kept"),
        (["bob ", "--reason", "asked to", "--yes"], "abacus: 'bob ' is not a member's id"),
        (["bob", "--reason", "asked to"], "abacus: nobody can be asked here; --yes erases without asking"),
        (["eve", "--reason", "asked to", "--yes"], "abacus: there is no member 'eve'"),
        (["eve", "--dry-run"], "abacus: there is no member 'eve'"),
    ],
    ids=" ".join,
)
async def test_what_is_refused(bob: House, arguments: list[str], line: str) -> None:
    ran = await erase(bob, *arguments)
    assert ran.code == (1 if line.startswith("abacus: there is no ") else 2)
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1
    assert await accounts(bob) == ["bob"]


async def test_a_login_that_owns_nothing_may_not(bob: House) -> None:
    url = bob.settings.required("database_url")
    login = f"worker_{uuid.uuid4().hex[:8]}"
    owner = await asyncpg.connect(url)
    try:
        await owner.execute(f"create role {login} login password 'secret' in role abacus_app")
        parts = urlsplit(url)
        address = urlunsplit(parts._replace(netloc=f"{login}:secret@{parts.netloc.rpartition('@')[2]}"))
        ran = await erase(bob, "bob", "--reason", "asked to", "--yes", ABACUS_DATABASE_URL=address)
        assert ran.code == 2
        assert ran.err.startswith(f"abacus: '{login}' may not erase; connect as the owner of the tables")
        assert ran.err.count("\n") == 1
        assert await accounts(bob) == ["bob"]
    finally:
        await owner.execute(f"drop role {login}")
        await owner.close()


async def test_everything_of_a_member_in_one_answer(bob: House) -> None:
    shown = await abacus("members", "show", "--all", "bob", "--json", env=bob.environment())
    assert shown.code == 0
    assert {name: len(value) for name, value in shown.json.items() if name != "member_id"} == {
        "accounts": 1,
        "points": 3,
        "tiers": 0,
        "holds": 0,
        "transfers": 3,
        "messages": 0,
        "withheld": 0,
        "offers": 0,
        "campaigns": 0,
        "journeys": 0,
        "redemptions": 0,
        "approvals": 0,
    }
    assert all(each["why"] and each["remaining"] == 10 for each in shown.json["points"])
    printed = await abacus("members", "show", "--all", "bob", env=bob.environment() | {"COLUMNS": "200"})
    assert "Points of bob" in printed.out
    assert (await abacus("members", "show", "--all", "nobody", env=bob.environment())).code == 1
    both = await abacus("members", "show", "--all", "bob", "--as-of", "2026-01-01T00:00:00Z", env=bob.environment())
    assert both.code == 2
