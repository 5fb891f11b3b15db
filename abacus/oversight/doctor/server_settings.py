"""Reads how the database servers are set up: of a Citus, each of them."""

import json
from collections.abc import Sequence
from typing import Any, Final

from abacus.oversight.doctor.decide.server_settings import Server
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.sql import Statement

_READ: Final = (
    *("fsync", "full_page_writes", "synchronous_commit", "autovacuum"),
    *("wal_compression", "shared_buffers", "max_wal_size", "checkpoint_timeout"),
)
_CHECKPOINTS_SINCE: Final = 170_000  # they have had a view of their own since this version

# Sizes are bytes. Each posting looks into the random indexes. They are summed over the slices on the server.
_TELL: Final = """
select json_build_object(
    'settings', (select json_object_agg(name, case unit
            when '8kB' then (setting::bigint * 8192)::text when 'kB' then (setting::bigint * 1024)::text
            when 'MB' then (setting::bigint * 1048576)::text else setting end)
        from pg_settings where name = any(%L::text[])),
    'compressions', (select to_json(enumvals) from pg_settings where name = 'wal_compression'),
    'random_indexes', (select coalesce(sum(pg_relation_size(oid)), 0)::bigint from pg_class
        where relkind = 'i' and relname ~ '^(transfer|claim)_[0-9]+_pkey(_[0-9]+)?$'),
    'checkpoints', (select json_build_array({timed}, {asked}) from {view}))
"""
_HAS_CITUS: Final = "select exists(select from pg_extension where extname = 'citus')"
_ALONE: Final = "select format($1, $2::text[])"
_ON_EACH: Final = Statement("""
select n.nodename || ':' || n.nodeport as server, r.success, r.result
from run_command_on_all_nodes(format(:command::text, :names::text[])) r join pg_dist_node n using (nodeid)
where n.noderole = 'primary' order by n.groupid
""")


async def read_servers(pool: Pool) -> Sequence[Server]:
    """A server of a Citus that cannot be asked is left out: `abacus status` tells that it is away. Raises
    `Unavailable`.
    """
    async with passing_failures(), pool.acquire() as connection:
        tell = _tell(await connection.fetchval("select current_setting('server_version_num')::int"))
        if await connection.fetchval(_HAS_CITUS):
            rows = await connection.fetch(*_ON_EACH(command=tell, names=list(_READ)))
            return [_server(row["server"], row["result"]) for row in rows if row["success"]]
        return [_server("database", await _own(connection, tell))]


async def _own(connection: Connection, tell: str) -> Any:
    return await connection.fetchval(await connection.fetchval(_ALONE, tell, list(_READ)))


def _tell(version: int) -> str:
    if version < _CHECKPOINTS_SINCE:
        return _TELL.format(timed="checkpoints_timed", asked="checkpoints_req", view="pg_stat_bgwriter")
    return _TELL.format(timed="num_timed", asked="num_requested", view="pg_stat_checkpointer")


def _server(name: str, told: str | bytes) -> Server:
    document: dict[str, Any] = json.loads(told)
    timed, asked = document["checkpoints"]
    return Server(
        name=name,
        settings=document["settings"],
        compressions=document["compressions"],
        random_indexes=document["random_indexes"],
        timed_checkpoints=timed,
        asked_checkpoints=asked,
    )
