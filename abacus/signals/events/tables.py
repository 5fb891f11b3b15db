"""Published event sources. A version is never changed: the latest of a source is in force."""

from typing import Final

from sqlalchemy import Column, DateTime, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from abacus.platform.metadata import METADATA

EVENT_SOURCE: Final = Table(
    "event_source",
    METADATA,
    Column("source", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("document", JSONB, nullable=False),
    Column("published_at", DateTime(timezone=True), nullable=False),
    Column("published_by", Text, nullable=False),
)
