"""Versions of downstreams, none of which is ever changed, and their secrets."""

from typing import Final

from sqlalchemy import Boolean, Column, DateTime, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from abacus.platform.metadata import KEY_TEXT, METADATA

# The latest version is in force. A retired one keeps its document, by which campaigns were read.
DOWNSTREAM: Final = Table(
    "downstream",
    METADATA,
    Column("name", KEY_TEXT, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("document", JSONB, nullable=False),
    Column("retired", Boolean, nullable=False),
    Column("published_at", DateTime(timezone=True), nullable=False),
    Column("published_by", Text, nullable=False),
)

# A former secret signs beside the new one for a while.
DOWNSTREAM_SECRET: Final = Table(
    "downstream_secret",
    METADATA,
    Column("name", KEY_TEXT, primary_key=True),
    Column("secret", Text, nullable=False),
    Column("former_secret", Text),
    Column("former_secret_until", DateTime(timezone=True)),
)
