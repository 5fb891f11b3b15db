"""Selections of the quarantine's items."""

from typing import Final

from sqlalchemy import Column, DateTime, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY, UUID

from abacus.platform.metadata import KEY_TEXT, METADATA

SELECTION: Final = Table(
    "console_selection",
    METADATA,
    Column("selection_id", UUID(as_uuid=True), primary_key=True),
    Column("chosen", Text, nullable=False),
    Column("items", ARRAY(Text), nullable=False),
    Column("made_by", KEY_TEXT, nullable=False),
    Column("made_at", DateTime(timezone=True), nullable=False),
)
