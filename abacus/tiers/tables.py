"""Which tier a member has in a program. A member who is not listed is `member`."""

from typing import Final

from sqlalchemy import Column, DateTime, Table, Text

from abacus.metadata import KEY_TEXT, METADATA

MEMBERSHIP: Final = Table(
    "membership",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("tier", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("set_at", DateTime(timezone=True), nullable=False),
)
