"""Published definitions of counters, and the record of the writers that count by them."""

from typing import Final

from sqlalchemy import BigInteger, Column, DateTime, Integer, Table, Text, UniqueConstraint
from sqlalchemy.dialects.postgresql import JSONB

from abacus.platform.metadata import KEY_TEXT, METADATA

# A version is never changed: the latest of a definition is in force.
COUNTER_DEFINITION: Final = Table(
    "counter_definition",
    METADATA,
    Column("definition_id", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("document", JSONB, nullable=False),
    Column("published_at", DateTime(timezone=True), nullable=False),
    Column("published_by", Text, nullable=False),
)

# A version that is retired counts no more. Append-only, as definitions are.
COUNTER_RETIREMENT: Final = Table(
    "counter_retirement",
    METADATA,
    Column("definition_id", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("retired_at", DateTime(timezone=True), nullable=False),
    Column("retired_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
)

# A topic of one identity, as it is read by the live writers, whose `definition_id` and `part` are 0, or by a backfill
# of a definition, whose part is the first, the second … that was asked for, from `begins_at` on. Rows never change.
COUNTER_SERIES: Final = Table(
    "counter_series",
    METADATA,
    Column("series", BigInteger, primary_key=True, autoincrement=False),
    Column("topic", KEY_TEXT, nullable=False),
    Column("identity", KEY_TEXT, nullable=False),
    Column("definition_id", Integer, nullable=False),
    Column("definition_version", Integer, nullable=False),
    Column("part", Integer, nullable=False),
    Column("begins_at", DateTime(timezone=True)),
    Column("opened_at", DateTime(timezone=True), nullable=False),
    UniqueConstraint("topic", "identity", "definition_id", "definition_version", "part", name="counter_series_of_key"),
)

# The offsets that a definition counts in a writer's partition: from `first` on, and for a backfill up to and without
# `after`. A writer is a partition of a series: series * 65536 + partition. Rows never change.
COUNTER_START: Final = Table(
    "counter_start",
    METADATA,
    Column("writer", BigInteger, primary_key=True, autoincrement=False),
    Column("definition_id", Integer, primary_key=True, autoincrement=False),
    Column("definition_version", Integer, primary_key=True, autoincrement=False),
    Column("first", BigInteger, nullable=False),
    Column("after", BigInteger),
    Column("recorded_at", DateTime(timezone=True), nullable=False),
)

# What a writer made of the events up to the offset `upto`, all of which are saved. `starts` is the number of rows of
# `counter_start` for it: who knows of fewer cannot move `upto`.
COUNTER_TALLY: Final = Table(
    "counter_tally",
    METADATA,
    Column("writer", BigInteger, primary_key=True, autoincrement=False),
    Column("upto", BigInteger, nullable=False),
    Column("starts", Integer, nullable=False),
    Column("seen", BigInteger, nullable=False),
    Column("counted", BigInteger, nullable=False),
    Column("ignored", BigInteger, nullable=False),
    Column("repeated", BigInteger, nullable=False),
    Column("set_aside", BigInteger, nullable=False),
    Column("last_offset", BigInteger),
    Column("last_print", KEY_TEXT),
    Column("moved_at", DateTime(timezone=True), nullable=False),
)

# The new keys of a version on a day, by the stamps of events, as a number since 1970: how many a writer may admit, how
# many it has admitted and how many events it has refused up to its tally, which was at `upto` then. Together, writers
# are granted what the definition allows.
COUNTER_NEW_KEYS: Final = Table(
    "counter_new_keys",
    METADATA,
    Column("definition_id", Integer, primary_key=True, autoincrement=False),
    Column("definition_version", Integer, primary_key=True, autoincrement=False),
    Column("day", Integer, primary_key=True, autoincrement=False),
    Column("writer", BigInteger, primary_key=True, autoincrement=False),
    Column("granted", BigInteger, nullable=False),
    Column("admitted", BigInteger, nullable=False),
    Column("refused", BigInteger, nullable=False),
    Column("upto", BigInteger, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False),
)
