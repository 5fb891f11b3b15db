"""Members' tiers: by the points that they earned, by an operator's word, and every change."""

from typing import Final

from sqlalchemy import BigInteger, Column, Date, DateTime, Index, Table, Text, text

from abacus.platform.metadata import KEY_TEXT, METADATA

# The tier that an operator has set; it stands above the tier by points until it is cleared.
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

# The tier by points, and how far the points stream is counted. Every change of an account's tier locks this row.
ACCOUNT_TIER: Final = Table(
    "account_tier",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("country", Text),  # null until points were earned at home
    Column("tier", Text, nullable=False),
    Column("until", Date),
    Column("last_seq", BigInteger, nullable=False, server_default="0"),
    Column("changes", BigInteger, nullable=False, server_default="0"),
    Index(  # the end of a period finds those whose tier lasted to it
        None, "country", "until", "member_id", "program", postgresql_where=text("until is not null")
    ),
    postgresql_with={"fillfactor": "70"},  # an update stays on its page
)

TIER_TALLY: Final = Table(
    "tier_tally",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("starts_on", Date, primary_key=True),
    Column("ends_on", Date, primary_key=True),  # a new policy may divide the calendar otherwise
    Column("until", Date, nullable=False),
    Column("earned", BigInteger, nullable=False),
    Column("tier", Text, nullable=False),
    Column("threshold", BigInteger, nullable=False),
    postgresql_with={"fillfactor": "70"},
)

# Every change of the tier that counts. It is published from here, in the order of `n` for each account.
TIER_CHANGE: Final = Table(
    "tier_change",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("n", BigInteger, primary_key=True, autoincrement=False),
    Column("country", Text),
    Column("from_tier", Text, nullable=False),
    Column("to_tier", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("actor", Text),
    Column("note", Text),
    Column("earned", BigInteger),
    Column("starts_on", Date),
    Column("ends_on", Date),
    Column("until", Date),
    Column("changed_at", DateTime(timezone=True), nullable=False),
    Column("published_at", DateTime(timezone=True)),
    Index(None, "member_id", "program", "n", postgresql_where=text("published_at is null")),
)

# Through which day the tiers of a country have been rolled.
TIER_CALENDAR: Final = Table(
    "tier_calendar",
    METADATA,
    Column("country", Text, primary_key=True),
    Column("rolled_through", Date, nullable=False),
)

# One run for each country and day; it is taken up again until it is finished.
TIER_ROLL: Final = Table(
    "tier_roll",
    METADATA,
    Column("country", Text, primary_key=True),
    Column("through", Date, primary_key=True),
    Column("found", BigInteger, nullable=False),
    Column("stepped_down", BigInteger, nullable=False, server_default="0"),
    Column("kept", BigInteger, nullable=False, server_default="0"),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("finished_at", DateTime(timezone=True)),
)
