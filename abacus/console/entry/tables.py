"""Sessions, passwords, second factors, links, and forms that took effect. Of tokens only digests are kept."""

from typing import Final

from sqlalchemy import BigInteger, Column, DateTime, Index, LargeBinary, Table, Text

from abacus.platform.metadata import KEY_TEXT, METADATA

SESSION: Final = Table(
    "console_session",
    METADATA,
    Column("prefix", KEY_TEXT, primary_key=True),
    Column("person_id", KEY_TEXT, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("way", Text, nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("seen_at", DateTime(timezone=True), nullable=False),
    Column("zone", Text, nullable=False),
    Column("address", Text, nullable=False),
    Column("browser", Text, nullable=False),
    Column("ended_at", DateTime(timezone=True)),
    Column("ended_by", Text),
    Index(None, "person_id"),
)

PASSWORD: Final = Table(
    "console_password",
    METADATA,
    Column("person_id", KEY_TEXT, primary_key=True),
    Column("hash", Text, nullable=False),
    Column("set_at", DateTime(timezone=True), nullable=False),
    Column("set_by", Text, nullable=False),
)

# `last_step` is the half minute of the last code that was used: none is used twice.
AUTHENTICATOR: Final = Table(
    "console_authenticator",
    METADATA,
    Column("person_id", KEY_TEXT, primary_key=True),
    Column("secret", Text, nullable=False),
    Column("set_at", DateTime(timezone=True), nullable=False),
    Column("set_by", Text, nullable=False),
    Column("last_step", BigInteger, nullable=False),
)

LINK: Final = Table(
    "console_link",
    METADATA,
    Column("prefix", KEY_TEXT, primary_key=True),
    Column("person_id", KEY_TEXT, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("made_at", DateTime(timezone=True), nullable=False),
    Column("made_by", Text, nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Column("used_at", DateTime(timezone=True)),
)

# A form whose room has no idempotency of its own leaves its key here, in the transaction of what it did.
FORM: Final = Table(
    "console_form",
    METADATA,
    Column("key", KEY_TEXT, primary_key=True),
    Column("person_id", KEY_TEXT, nullable=False),
    Column("done_at", DateTime(timezone=True), nullable=False),
)
