"""Settings of counters that are in force in every process at once."""

from typing import Final

from sqlalchemy import Column, DateTime, Integer, Table, Text

from abacus.platform.metadata import KEY_TEXT, METADATA

COUNTER_SETTING: Final = Table(
    "counter_setting",
    METADATA,
    Column("name", KEY_TEXT, primary_key=True),
    Column("value", Integer, nullable=False),
    Column("set_at", DateTime(timezone=True), nullable=False),
    Column("set_by", Text, nullable=False),
)
