"""Published rate cards. A version is never changed: a new one takes over from its `effective_from` on."""

from typing import Final

from sqlalchemy import Column, DateTime, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB

from abacus.platform.metadata import METADATA

RATE_CARD: Final = Table(
    "rate_card",
    METADATA,
    Column("scope", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("effective_from", DateTime(timezone=True), nullable=False),
    Column("document", JSONB, nullable=False),
    Column("published_at", DateTime(timezone=True), nullable=False),
    Column("published_by", Text, nullable=False),
    Column("approved_by", Text),
)

# A card that is withdrawn before it begins is never in force. Append-only, as cards are.
RATE_CARD_WITHDRAWAL: Final = Table(
    "rate_card_withdrawal",
    METADATA,
    Column("scope", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("withdrawn_at", DateTime(timezone=True), nullable=False),
    Column("withdrawn_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
