"""People, their tokens, approvals and the log of what was done. Of a token only the digest is kept."""

from typing import Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Index,
    LargeBinary,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSON

from abacus.platform.metadata import KEY_TEXT, METADATA

PERSON: Final = Table(
    "person",
    METADATA,
    Column("person_id", KEY_TEXT, primary_key=True),
    Column("grants", ARRAY(Text), nullable=False),  # `support:SG`, `admin`
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("created_by", Text, nullable=False),
    Column("disabled_at", DateTime(timezone=True)),
)

PERSON_TOKEN: Final = Table(
    "person_token",
    METADATA,
    Column("prefix", KEY_TEXT, primary_key=True),
    Column("person_id", KEY_TEXT, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Column("revoked_at", DateTime(timezone=True)),
    Column("last_used_at", DateTime(timezone=True)),
    Index(None, "person_id"),
)

# What was asked for is never changed; the status goes one way. `asked_by` and `decided_by` are sources.
APPROVAL: Final = Table(
    "approval",
    METADATA,
    Column("approval_id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("country", Text),
    Column("summary", Text, nullable=False),
    Column("document", Text, nullable=False),  # canonical JSON, as text: the digest covers it
    Column("digest", Text, nullable=False),
    Column("asked_by", Text, nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("decided_by", Text),
    Column("decided_at", DateTime(timezone=True)),
    Column("note", Text),
    # It was decided by a name that was typed, before there were people.
    Column("before_people", Boolean, nullable=False, server_default=text("false")),
    Index(
        "approval_open_idx", "kind", "subject", unique=True, postgresql_where=text("status in ('pending', 'approved')")
    ),
    Index(None, "asked_at"),
)

# Append-only. `subject` says what it was done to, by kind and id: `member:bob`, `partner:acme`, `card:SG@7`.
AUDIT_LOG: Final = Table(
    "audit_log",
    METADATA,
    Column("entry_id", Uuid, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("actor", Text, nullable=False),
    Column("authenticated", Boolean, nullable=False),
    Column("deed", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("country", Text),
    Column("details", JSON, nullable=False),
    Column("number", BigInteger),  # the place in the chain, given soon after
    Column("hash", LargeBinary),
    # With `salt`, subject and details come to `body`, which the hash covers; an erasure keeps `body`, and takes `salt`.
    Column("salt", Uuid, server_default=text("gen_random_uuid()")),
    Column("body", LargeBinary),
    Column("of_before", Boolean, nullable=False, server_default=text("false")),  # it is older than the chain
    # The card, partner or person that it is about, and what that was when the transaction ended; both set by triggers.
    Column("stated", Text),
    Column("state", JSON),
    Index(None, "at"),
    Index(None, "subject"),
    # Who gave whom a way to act of late.
    Index(
        "audit_log_access_idx",
        "at",
        postgresql_where=text("deed = 'manage-people'"),
    ),
    Index(None, "number", unique=True),
    Index("audit_log_unchained_idx", "at", "entry_id", postgresql_where=text("number is null")),
    Index("audit_log_stated_idx", "stated", "at", postgresql_where=text("stated is not null")),
)

# The end of the log's chain, in one row.
AUDIT_HEAD: Final = Table(
    "audit_head",
    METADATA,
    Column("one", Boolean, primary_key=True, server_default=text("true")),
    Column("number", BigInteger, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    CheckConstraint("one", name="one"),
)
