"""The actions that wait for their time, and those that are done or refused."""

from typing import Final

from sqlalchemy import Column, DateTime, Index, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import JSON

from abacus.platform.metadata import KEY_TEXT, METADATA

# While a process is at an action, `due_at` is when another one may take it.
CAMPAIGN_ACTION: Final = Table(
    "campaign_action",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("key", KEY_TEXT, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("campaign", KEY_TEXT, nullable=False),
    Column("version", Integer, nullable=False),
    Column("step", Integer, nullable=False),
    Column("variant", Text),
    Column("kind", Text, nullable=False),
    Column("receiver", Text, nullable=False),
    Column("decided_at", DateTime(timezone=True), nullable=False),
    Column("due_at", DateTime(timezone=True), nullable=False),
    Column("document", JSON, nullable=False),
    Column("event", JSON),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("failing_since", DateTime(timezone=True)),
    Column("done_at", DateTime(timezone=True)),
    Column("refused_at", DateTime(timezone=True)),
    Column("reason", Text),
    Index(None, "receiver", "due_at", postgresql_where=text("done_at is null and refused_at is null")),
)
