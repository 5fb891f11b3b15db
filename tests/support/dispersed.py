"""Slices on servers of their own, without a Citus: each server is a proxy before the one Postgres, and the database
says in the tables of Citus which has which. A proxy that is silent is a server that is silent, for all that goes
straight to it.
"""

import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

import asyncpg

from abacus.platform.migrations import cut, migrate
from abacus.platform.slices import SliceMap
from tests.support.proxy import Proxy, proxied
from tests.support.services import Services, administer, database_address

SLICES = 8

# The columns that the house reads.
_DIRECTORY = """
set allow_system_table_mods = on;
create table pg_catalog.pg_dist_node (groupid int, nodename text, nodeport int, noderole text);
create table pg_catalog.pg_dist_schema (schemaid oid, colocationid int);
create table pg_catalog.pg_dist_partition (logicalrelid oid, colocationid int);
create table pg_catalog.pg_dist_shard (logicalrelid oid, shardid bigint);
create table pg_catalog.pg_dist_placement (shardid bigint, groupid int);
grant select on pg_catalog.pg_dist_node, pg_catalog.pg_dist_schema, pg_catalog.pg_dist_partition,
    pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement to public;
reset allow_system_table_mods;
"""
_SERVER = "insert into pg_catalog.pg_dist_node values ($1, '127.0.0.1', $2, 'primary')"
_PLACES = """
with placed as (insert into pg_catalog.pg_dist_schema values ($1::text::regnamespace, $2)),
    part as (insert into pg_catalog.pg_dist_partition values ($2::int::oid, $2)),
    shard as (insert into pg_catalog.pg_dist_shard values ($2::int::oid, $2))
insert into pg_catalog.pg_dist_placement values ($2, $3)
"""


class Dispersed(NamedTuple):
    """A ledger in eight slices, and the proxies that its servers are, each with the slices that lie there."""

    database_url: str
    servers: Mapping[Proxy, Sequence[int]]


@asynccontextmanager
async def dispersed(services: Services, servers: int) -> AsyncIterator[Dispersed]:
    """A database of its own, its slices spread over so many servers."""
    name = f"abacus_dispersed_{uuid.uuid4().hex[:8]}"
    await administer(services, f"create database {name}")
    url = database_address(services, name)
    try:
        await migrate(url)
        await cut(url, SLICES)
        async with AsyncExitStack() as stack:
            proxies = [(await stack.enter_async_context(proxied(url)))[0] for _ in range(servers)]
            await _place(url, proxies)
            yield Dispersed(url, {each: range(number, SLICES, servers) for number, each in enumerate(proxies)})
    finally:
        await administer(services, f"drop database {name} with (force)")


async def _place(url: str, proxies: Sequence[Proxy]) -> None:
    owner = await asyncpg.connect(url)
    try:
        await owner.execute(_DIRECTORY)
        await owner.executemany(_SERVER, list(enumerate(proxy.port for proxy in proxies)))
        schemas = SliceMap(SLICES).schemas
        await owner.executemany(_PLACES, [(schema, n, n % len(proxies)) for n, schema in enumerate(schemas)])
    finally:
        await owner.close()
