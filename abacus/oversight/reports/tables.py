"""Finance's assumptions on points. A version is never changed: a new one takes over from its `effective_from` on."""

from typing import Final

from sqlalchemy import Column, Date, DateTime, Integer, Numeric, Table, Text

from abacus.platform.metadata import KEY_TEXT, METADATA

ASSUMPTION: Final = Table(
    "assumption",
    METADATA,
    Column("program", KEY_TEXT, primary_key=True),
    Column("country", KEY_TEXT, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("effective_from", Date, nullable=False),
    Column("currency", Text, nullable=False),
    Column("expected_use", Numeric, nullable=False),
    Column("cost_per_point", Numeric),
    Column("selling_price", Numeric),
    Column("allocated_per_point", Numeric),
    Column("set_at", DateTime(timezone=True), nullable=False),
    Column("set_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
