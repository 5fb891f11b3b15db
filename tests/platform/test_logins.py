"""The logins of a database: one that may all, until they are split; then the workers' is no person."""

from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest

from abacus.console.entry.links import Links
from abacus.console.entry.passwords import Passwords
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Grant, Role
from abacus.platform.logins import role_for
from abacus.platform.migrations import make_sandbox, split
from abacus.platform.postgres import Also, Pool, open_pool
from abacus.platform.roles import APPLICATION_ROLE, CONSOLE_ROLE, PEOPLE_ROLE
from abacus.platform.slices.layout import CUT, OF_A_SLICE
from tests.platform.rights import RIGHTS, SPLIT, granted, in_order
from tests.support.commands import abacus
from tests.support.logged import logged
from tests.support.paths import DOCS
from tests.support.slices import SLICES
from tests.support.staff import ADMIN

pytestmark = pytest.mark.once

SETTING: Final = "ABACUS_PEOPLE_DATABASE_URL"

# Statements by which somebody becomes a person, dates something back, or is in a segment.
BECOMING: Final = (
    "insert into person values ('eve', '{admin}', now(), 'person:eve')",
    "update person set grants = '{admin}'",
    "insert into person_token values ('p', 'ann', '', now(), 'x', now())",
    "update person_token set digest = ''",
    "insert into console_session (prefix) values ('p')",
    "insert into console_link (prefix) values ('p')",
    "update console_password set hash = ''",
    "insert into console_errand (errand_id) values (gen_random_uuid())",
    "update console_errand set token_digest = ''",
    "update audit_log set at = now() - interval '1 year'",
    "delete from segment_version",
)


@pytest.fixture
async def login(database_url: str) -> AsyncIterator[tuple[str, str]]:
    """The name of a login that was given nothing, and its address."""
    name = f"login_{uuid4().hex[:12]}"
    owner = await asyncpg.connect(database_url)
    try:
        await owner.execute(f"create role {name} login password 'p'")
        parts = urlsplit(database_url)
        yield name, urlunsplit(parts._replace(netloc=f"{name}:p@{parts.hostname}:{parts.port}"))
    finally:
        await owner.execute(f"drop role {name}")
        await owner.close()


async def test_the_role_of_a_login(database_url: str, login: tuple[str, str]) -> None:
    name, url = login
    owner = await asyncpg.connect(database_url)
    try:
        await owner.execute(f"grant {APPLICATION_ROLE} to {name}")
        assert await role_for(url, PEOPLE_ROLE, SETTING) == APPLICATION_ROLE, "one login is enough before"
        await split(database_url)
        with pytest.raises(Refused, match=f"{SETTING} has to name a login with `grant {PEOPLE_ROLE} to LOGIN`"):
            await role_for(url, PEOPLE_ROLE, SETTING)
        await owner.execute(f"grant {PEOPLE_ROLE} to {name}")
        assert await role_for(url, PEOPLE_ROLE, SETTING) == PEOPLE_ROLE
        with pytest.raises(Refused, match=f"grant {CONSOLE_ROLE} to LOGIN"):
            await role_for(url, CONSOLE_ROLE, "ABACUS_CONSOLE_DATABASE_URL")
    finally:
        await owner.close()


@pytest.mark.parametrize("schema", ["public", "sandbox"])
async def test_the_rights_of_each_login_are_those_that_are_declared(database_url: str, schema: str) -> None:
    if schema == "sandbox":
        await make_sandbox(database_url)
    await split(database_url)
    owner = await asyncpg.connect(database_url, server_settings={"search_path": schema})
    try:
        for role, differing in SPLIT.items():
            declared = {**RIGHTS, **differing}
            there = await granted(owner, role)
            assert {table: in_order(there[table]) for table in _whole(there, schema)} == {
                table: in_order(declared[table]) for table in _whole(declared, schema)
            }, role
    finally:
        await owner.close()


async def test_the_workers_login_is_no_person(pool: Pool, database_url: str) -> None:
    await split(database_url)
    for statement in BECOMING:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await pool.execute(statement)
    await PeopleStore(pool, SystemClock()).note_use({})  # which the API does


async def test_people_are_entered_and_come_in_by_their_logins(database_url: str) -> None:
    await split(database_url)
    people = await open_pool(database_url, size=2, role=PEOPLE_ROLE)
    console = await open_pool(database_url, size=2, role=CONSOLE_ROLE)
    try:
        clock, store = SystemClock(), PeopleStore(people, SystemClock())
        await store.create("ann", (Grant(Role.ADMIN),), by=ADMIN, also=_noted())
        token, _ = await store.add_token("ann", holds_for=timedelta(days=1), by=ADMIN, also=_noted())
        await Passwords(people, clock).set("ann", "a long enough password", by="person:ann", also=_noted())
        await Links(people, clock).make("ann", holds_for=timedelta(hours=1), by="person:ann", also=_noted())
        assert (await PeopleStore(console, clock).actor_of(token.text)).name == "ann"
        assert await Passwords(console, clock).fits("ann", "a long enough password")
        assert await PeopleStore(console, clock).vouch(
            "ben", (Grant(Role.VIEWER),), also=logged("person:ben", Deed.SEE)
        )
    finally:
        await people.close()
        await console.close()


async def test_the_command_splits_them(database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    ran = await abacus("migrate", "--split-logins", env=env)
    assert ran.code == 0
    assert ran.out.endswith("the workers' login enters nobody, begins no session and changes no segment\n")
    assert (await abacus("people", "create", "ann", "--role", "admin", env=env)).code == 0, "by the owner's login"


async def test_the_page_lists_what_each_login_may(database_url: str) -> None:
    await split(database_url)
    section = (
        (DOCS / "finance-audit/rights.md")
        .read_text(encoding="utf-8")
        .partition("## What each login may")[2]
        .partition("\n## ")[0]
    )
    told = [[cell.strip().replace("`", "") for cell in line.split("|")[1:-1]] for line in section.splitlines()]
    owner = await asyncpg.connect(database_url)
    try:
        rights = [await granted(owner, role) for role in (APPLICATION_ROLE, PEOPLE_ROLE, CONSOLE_ROLE)]
    finally:
        await owner.close()
    whole = _whole(rights[0], "public")
    listed = {table: cells for table, *cells in (row for row in told if len(row) > 1) if table in whole}
    assert listed.keys() == whole
    for table, cells in listed.items():
        for cell, of_role in zip(cells * 3 if len(cells) == 1 else cells, rights, strict=True):
            expected = cells[0] if cell == "the same" else cell
            assert in_order(expected) == in_order(of_role[table]), table


def _whole(tables: Mapping[str, str], schema: str) -> set[str]:
    """Without those of slices, of which `public` has views for the tests to write to; the sandbox is never cut."""
    return {*tables} - ({*CUT, *OF_A_SLICE} if schema == "public" and SLICES > 1 else set())


def _noted(person: str = "ann") -> Also:
    return logged(f"person:{person}", Deed.MANAGE_PEOPLE)
