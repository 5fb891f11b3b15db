"""The tables of notifications: notices made of events, messages made of notices, and members' preferences."""

from typing import Final

from sqlalchemy import ARRAY, BigInteger, Column, DateTime, Index, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import JSON

from abacus.platform.metadata import KEY_TEXT, METADATA

# One row for each event. It stays after it was told, so that an event that is read again is not told again.
NOTICE: Final = Table(
    "notice",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("event_id", KEY_TEXT, primary_key=True),
    Column("happened_at", DateTime(timezone=True), nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("part", JSON, nullable=False),
    Column("due_at", DateTime(timezone=True), nullable=False),  # until then it waits for others to be told with
    Column("told_at", DateTime(timezone=True)),  # set when a message was made of it, or the member wants none
    Index(None, "due_at", postgresql_where=text("told_at is null")),
    Index(None, "member_id", postgresql_where=text("told_at is null")),
    Index(None, "told_at"),
)

# One row for each message and channel.
NOTIFICATION: Final = Table(
    "notification",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("message_id", KEY_TEXT, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("locale", Text, nullable=False),
    Column("parts", JSON, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column(
        "due_at", DateTime(timezone=True), nullable=False
    ),  # while a worker sends it: when another worker may take it
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("failing_since", DateTime(timezone=True)),
    Column("last_error", Text),
    Column("sent_at", DateTime(timezone=True)),
    Column("parked_at", DateTime(timezone=True)),
    Index(None, "channel", "due_at", postgresql_where=text("sent_at is null and parked_at is null")),
    Index(None, "parked_at", postgresql_where=text("parked_at is not null")),
    Index(None, "sent_at", postgresql_where=text("sent_at is not null")),
)

# Null means the default: English, and every channel that there is.
NOTIFICATION_PREFERENCE: Final = Table(
    "notification_preference",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("locale", Text),
    Column("channels", ARRAY(Text)),
    Column("set_by", Text, nullable=False),
    Column("set_at", DateTime(timezone=True), nullable=False),
)
