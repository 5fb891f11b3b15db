"""The buckets of all who are limited. The ids are opaque, and nothing is lost with the rows but a minute's counting."""

from typing import Final

from sqlalchemy import Column, DateTime, Table

from abacus.platform.metadata import KEY_TEXT, METADATA

RATE_LIMIT: Final = Table(
    "rate_limit",
    METADATA,
    Column("id", KEY_TEXT, primary_key=True),
    Column("full_at", DateTime(timezone=True), nullable=False),
    prefixes=["unlogged"],
)
