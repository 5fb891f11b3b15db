"""What the servers of a Citus are given, and what is left to an administrator, named with its server."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from abacus.core.errors import AbacusError, RightMissing
from abacus.platform import slices
from abacus.platform.cluster.placement import placement_at
from abacus.platform.cluster.servers import ROLES, Door, Member, Server, Unprepared, lacks, shut
from abacus.platform.pool.sliced_pool import Address
from abacus.platform.postgres import open_pool
from tests.support.cluster import Servers
from tests.support.slices import SLICES

A, B, C = (Address("db", number) for number in range(3))
APP, PEOPLE = "abacus_app", "abacus_people"
MEMBERS = [Member(APP, PEOPLE), Member(APP, "owner"), Member(APP, "workers"), Member(PEOPLE, "owner")]
EVERYBODY = [APP, PEOPLE, "owner", "workers"]
READY = Server(A, prepares=200, known=EVERYBODY, enter=EVERYBODY, members=MEMBERS)


@pytest.mark.parametrize(
    ("server", "wanted"),
    [
        (READY, None),
        (READY._replace(enter=[APP, "owner", "workers"]), "run `alter role abacus_people login`"),
        (READY._replace(members=[*MEMBERS[:2], MEMBERS[3]]), 'run `grant abacus_app to "workers"`'),
        (
            READY._replace(known=EVERYBODY[:3], enter=EVERYBODY[:3], members=[*MEMBERS[:2], MEMBERS[3]]),
            'run `create role "workers" login; grant abacus_app to "workers"`',
        ),
        (
            READY._replace(known=EVERYBODY[2:], enter=EVERYBODY[2:], members=[]),
            (
                "run `create role abacus_app login; create role abacus_people login; grant abacus_app to abacus_people;"
                ' grant abacus_app to "owner"; grant abacus_app to "workers"; grant abacus_people to "owner"`'
            ),
        ),
        (
            READY._replace(prepares=0),
            "set max_prepared_transactions, which is 0: nothing can be committed on two servers at once",
        ),
        (
            READY._replace(prepares=0, enter=EVERYBODY[1:]),
            (
                "run `alter role abacus_app login`, and to set max_prepared_transactions, which is 0:"
                " nothing can be committed on two servers at once"
            ),
        ),
    ],
)
def test_what_a_server_lacks_is_sql_for_an_administrator(server: Server, wanted: str | None) -> None:
    told = [str(each) for each in lacks([READY._replace(address=B), server], MEMBERS)]
    assert told == ([f"on {A} an administrator has to {wanted}"] if wanted else [])


def test_a_server_that_lets_others_not_in_is_named_once_with_them() -> None:
    doors = [Door("owner", A, C), Door("owner", B, C), Door("abacus_app", A, B)]
    first, second = map(str, shut(doors))
    assert first.startswith(f"{C} does not let owner in from {A}, {B}: ")
    assert second.startswith(f"{B} does not let abacus_app in from {A}: ")


@asynccontextmanager
async def role(servers: Servers, options: str, *, on: int | None = None) -> AsyncIterator[str]:
    """A login of all servers, or of one alone."""
    name = f"abacus_test_{uuid.uuid4().hex[:12]}"
    addresses = servers.addresses if on is None else [servers.addresses[on]]
    try:
        for address in addresses:
            await _run(address, f"create role {name} {options}")
        yield name
    finally:
        for address in addresses:
            await _run(address, f"drop role if exists {name}")


async def _run(address: str, statement: str) -> None:
    connection = await asyncpg.connect(address)
    try:
        await connection.execute("set citus.enable_ddl_propagation = off")
        await connection.execute(statement)
    finally:
        await connection.close()


async def _may(address: str, login: str) -> bool:
    connection = await asyncpg.connect(address)
    try:
        may = "select bool_and(pg_has_role($1::name, role::name, 'member')) from unnest($2::text[]) role"
        return bool(await connection.fetchval(may, login, ROLES))
    finally:
        await connection.close()


def as_login(database_url: str, login: str) -> str:
    parts = urlsplit(database_url)
    return urlunsplit(parts._replace(netloc=f"{login}@{parts.netloc.rpartition('@')[2]}"))


async def test_the_owner_is_made_a_member_on_every_server_where_it_may(database_url: str, servers: Servers) -> None:
    if not servers.are_several:
        pytest.skip("ABACUS_TEST_DATABASE_URL names no Citus")
    async with servers.alone(), role(servers, "login createrole") as owner:
        assert not any([await _may(address, owner) for address in servers.addresses])
        async with placement_at(as_login(database_url, owner)) as slices:
            await slices.prepare()
        assert all([await _may(address, owner) for address in servers.addresses])


async def test_what_the_owner_may_not_give_is_told_for_each_server(database_url: str, servers: Servers) -> None:
    if not servers.are_several:
        pytest.skip("ABACUS_TEST_DATABASE_URL names no Citus")
    first, *others = servers.ports
    async with servers.alone(), role(servers, "login") as owner, role(servers, "login", on=0) as workers:
        await _run(servers.addresses[0], f"grant abacus_app to {workers}")
        await _run(servers.addresses[0], f"grant {', '.join(ROLES)} to {owner}")
        async with placement_at(as_login(database_url, owner)) as slices:
            with pytest.raises(Unprepared) as told:
                await slices.prepare()
        texts = [str(each) for each in told.value.faults]
        assert len(texts) == len(others), f"{first} lacks nothing"
        for port, text in zip(others, texts, strict=True):
            assert f":{port} an administrator has to run `" in text
            for wanted in (
                f'grant abacus_app to "{owner}"',
                f'create role "{workers}" login',
                f'grant abacus_app to "{workers}"',
            ):
                assert wanted in text


async def test_moving_takes_no_right_to_the_schema_of_citus(database_url: str, servers: Servers) -> None:
    """The slice's owner may move it, and is no superuser."""
    if not servers.are_several or SLICES == 1:
        pytest.skip("ABACUS_TEST_DATABASE_URL names no Citus, or ABACUS_TEST_SLICES is 1")
    async with placement_at(database_url) as slices:
        schema, source, _ = (await slices.placed())[0]
        target = next(each for each in await slices.servers() if each != source)

    async def move_as(login: str) -> None:
        async with placement_at(as_login(database_url, login)) as slices:
            await slices.move(schema, target)

    async with servers.alone(), role(servers, "login") as stranger:
        with pytest.raises(AbacusError, match=f"must be owner of schema {schema}"):
            await move_as(stranger)


async def test_a_login_that_a_server_does_not_let_in_is_told_with_the_server(
    database_url: str, servers: Servers
) -> None:
    if not servers.are_several or SLICES == 1:
        pytest.skip("ABACUS_TEST_DATABASE_URL names no Citus, or ABACUS_TEST_SLICES is 1")
    async with servers.alone(), role(servers, "login") as workers:
        await _run(servers.addresses[0], f"grant abacus_app to {workers}")
        opened = await open_pool(as_login(database_url, workers), size=1)
        try:
            with pytest.raises(RightMissing, match=r":\d+ says: permission denied to set role .* run `grant` there"):
                await slices.rows(opened, ("select from transfer",))
        finally:
            await opened.close()
