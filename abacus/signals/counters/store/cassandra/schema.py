"""The keyspace and the table, and what has to hold for them."""

from typing import Final

from abacus.core.errors import Refused
from abacus.signals.counters.store.cassandra.session import Session

TABLE: Final = "counter_row"
KEY_TABLE: Final = "counter_key"

_TABLE: Final = """\
create table if not exists {keyspace}.counter_row (
    key text,
    slot int,
    writer bigint,
    count bigint,
    primary key (key, slot, writer)
) with compaction = {{'class': 'LeveledCompactionStrategy'}}
    and gc_grace_seconds = 86400
    and comment = 'count is written using timestamp upto + 1, and goes by its time to live, never by a delete'"""

# A table of keys cannot be gone through in order where each key is a partition of its own.
_KEY_TABLE: Final = """\
create table if not exists {keyspace}.counter_key (
    space text,
    share int,
    key text,
    primary key ((space, share), key)
) with compaction = {{'class': 'LeveledCompactionStrategy'}}
    and gc_grace_seconds = 86400
    and comment = 'the keys of a version of a counter, in so many shares'"""

# The timestamp of a write is the offset that it counted up to. These take it for a time.
_BY_TIME: Final = ("TimeWindowCompactionStrategy", "DateTieredCompactionStrategy")

_COMPACTION: Final = "select compaction from system_schema.tables where keyspace_name = ? and table_name = ?"


def statements(keyspace: str, datacenter: str, replicas: int) -> list[str]:
    """The CQL that makes what is missing."""
    replication = f"{{'class': 'NetworkTopologyStrategy', '{datacenter}': {replicas}}}"
    return [
        f"create keyspace if not exists {keyspace} with replication = {replication}",
        _TABLE.format(keyspace=keyspace),
        _KEY_TABLE.format(keyspace=keyspace),
    ]


async def make(session: Session, keyspace: str, datacenter: str, replicas: int) -> None:
    for statement in statements(keyspace, datacenter, replicas):
        await session.run(statement)


async def check(session: Session, keyspace: str) -> None:
    """Raises `Refused` when the table was altered in a way that loses counts."""
    for (options,) in await session.fetch(_COMPACTION, (keyspace, TABLE)):
        kind = dict(options)["class"].rpartition(".")[2]
        if kind in _BY_TIME:
            raise Refused(
                f"{keyspace}.{TABLE} is compacted by {kind}, which takes the timestamps of writes for times, and here"
                " they are offsets: alter it to LeveledCompactionStrategy"
            )
