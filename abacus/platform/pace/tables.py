"""When each receiver is free for the next turn; every process takes its turns from this row."""

from typing import Final

from sqlalchemy import Column, DateTime, Table, Text

from abacus.platform.metadata import METADATA

PACE: Final = Table(
    "pace",
    METADATA,
    Column("receiver", Text, primary_key=True),
    Column("free_at", DateTime(timezone=True), nullable=False),
)
