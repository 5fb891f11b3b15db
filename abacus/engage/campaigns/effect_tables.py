"""What came of events that campaigns answer to: claims, the progress of members, and sums."""

from typing import Final

from sqlalchemy import BigInteger, Column, Date, DateTime, Index, Integer, LargeBinary, Table, Text, text

from abacus.platform.metadata import KEY_TEXT, METADATA

# One row for each event that a campaign was decided for, kept for ever: no event is decided twice.
CAMPAIGN_CLAIM: Final = Table(
    "campaign_claim",
    METADATA,
    Column("key", KEY_TEXT, primary_key=True),
    Column("member_id", KEY_TEXT, nullable=False, index=True),
    Column("campaign", KEY_TEXT, nullable=False),
    Column("version", Integer, nullable=False),
    Column("decided_at", DateTime(timezone=True), nullable=False),
)

# Over the whole life of a campaign (no scope), a day, a week or a month. Marks are times in microseconds, eight bytes
# each.
CAMPAIGN_PROGRESS: Final = Table(
    "campaign_progress",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("campaign", KEY_TEXT, primary_key=True),
    Column("scope", KEY_TEXT, primary_key=True),
    Column("events", BigInteger, nullable=False),
    Column("runs", BigInteger, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
    Column("marks", LargeBinary, nullable=False),
    Column("variant", Text),
    Index(None, "campaign", postgresql_where=text("variant is not null")),
)

# How many events were looked at, by hour; a country that is not told is empty. Each process adds to rows of its own.
CAMPAIGN_SEEN: Final = Table(
    "campaign_seen",
    METADATA,
    Column("source", KEY_TEXT, primary_key=True),
    Column("type", KEY_TEXT, primary_key=True),
    Column("country", KEY_TEXT, primary_key=True),
    Column("hour", DateTime(timezone=True), primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("events", BigInteger, nullable=False),
)

# What came of events, by day, arm and outcome; each process adds to rows of its own.
CAMPAIGN_SUM: Final = Table(
    "campaign_sum",
    METADATA,
    Column("campaign", KEY_TEXT, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("day", Date, primary_key=True),
    Column("variant", KEY_TEXT, primary_key=True),
    Column("outcome", KEY_TEXT, primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("events", BigInteger, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
)
