"""The rows of counters, and the partitions that hold them."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, Table

from abacus.platform.metadata import KEY_TEXT, METADATA

COUNTER_ROW: Final = Table(
    "counter_row",
    METADATA,
    Column("key", KEY_TEXT, primary_key=True),
    Column("slot", Integer, primary_key=True),
    Column("writer", BigInteger, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("upto", BigInteger, nullable=False),
    postgresql_partition_by="range (slot)",
)

# A partition holds the slots from `first`, up to and without `next`. It is dropped from the second `until` on.
COUNTER_PARTITION: Final = Table(
    "counter_partition",
    METADATA,
    Column("first", Integer, primary_key=True, autoincrement=False),
    Column("next", Integer, nullable=False),
    Column("until", BigInteger, nullable=False),
)
