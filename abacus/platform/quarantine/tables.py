"""Items that could not be processed, whole, with their origin and the reason."""

from typing import Final

from sqlalchemy import BigInteger, Column, DateTime, Index, Integer, LargeBinary, SmallInteger, Table, Text

from abacus.platform.metadata import METADATA

QUARANTINE: Final = Table(
    "quarantine",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("stage", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("key", Text),
    Column("fingerprint", Text),
    Column("posted_fingerprint", Text),
    Column("status", Text, nullable=False),
    Column("set_aside_at", DateTime(timezone=True), nullable=False),
    Column("replayed_at", DateTime(timezone=True)),
    Column("replays", Integer, nullable=False, server_default="0"),
    Index(None, "status", "reason", "set_aside_at"),
    Index(None, "key"),  # finds the outcome of an award
)

# How many items there are, counted by triggers. Connections count in rows of their own.
QUARANTINE_TALLY: Final = Table(
    "quarantine_tally",
    METADATA,
    Column("bucket", SmallInteger, primary_key=True, autoincrement=False),
    Column("items", BigInteger, nullable=False),
)
