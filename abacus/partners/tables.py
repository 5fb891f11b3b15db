"""Partners and their keys. A key is kept as its digest only."""

from typing import Final

from sqlalchemy import ARRAY, Boolean, Column, DateTime, Index, Integer, LargeBinary, Table, Text

from abacus.metadata import KEY_TEXT, METADATA

PARTNER: Final = Table(
    "partner",
    METADATA,
    Column("partner_id", KEY_TEXT, primary_key=True),
    Column("name", Text, nullable=False),
    Column("fixed_points", Boolean, nullable=False),
    Column("computed_points", Boolean, nullable=False),
    Column("countries", ARRAY(Text), nullable=False),
    Column("card_scope", Text),  # its own card; without one, the country's
    Column("requests_per_minute", Integer, nullable=False),
    Column("signing_secret", Text),  # requests must be signed with it; without one, they need not be signed
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("created_by", Text, nullable=False),
    Column("disabled_at", DateTime(timezone=True)),
)

PARTNER_KEY: Final = Table(
    "partner_key",
    METADATA,
    Column("prefix", KEY_TEXT, primary_key=True),
    Column("partner_id", KEY_TEXT, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True)),
    Column("last_used_at", DateTime(timezone=True)),
    Index(None, "partner_id"),
)
