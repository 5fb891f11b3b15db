"""Partners, their keys and their webhooks. Of a key only the digest is kept; a signing secret is kept whole."""

from typing import Final

from sqlalchemy import ARRAY, Boolean, Column, DateTime, Double, Index, Integer, LargeBinary, Table, Text, Uuid, text

from abacus.ledger.store.tables import Xid8
from abacus.platform.metadata import KEY_TEXT, METADATA

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
    Column("may_spend", Boolean, nullable=False, server_default=text("false")),
    Column("may_adjust", Boolean, nullable=False, server_default=text("false")),
    Column("may_see_others", Boolean, nullable=False, server_default=text("false")),
    Column("may_count", Boolean, nullable=False, server_default=text("false")),
    Column("may_read_members", Boolean, nullable=False, server_default=text("false")),
    Column("sources", ARRAY(Text)),  # of transactions, beside its own id; null: any, for partners from before
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

# The address for messages to a partner about its awards.
WEBHOOK: Final = Table(
    "webhook",
    METADATA,
    Column("partner_id", KEY_TEXT, primary_key=True),
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("former_secret", Text),  # signs too, until then
    Column("former_secret_until", DateTime(timezone=True)),
    Column("created_at", DateTime(timezone=True), nullable=False),  # earlier events are not sent
    Column("disabled_at", DateTime(timezone=True)),
    Column("disabled_why", Text),
)

# What partners are told. A delivered one stays for a month, so that an event that is read again makes no second one.
WEBHOOK_DELIVERY: Final = Table(
    "webhook_delivery",
    METADATA,
    Column("message_id", KEY_TEXT, primary_key=True),
    Column("partner_id", KEY_TEXT, nullable=False),
    Column("member_id", KEY_TEXT, nullable=False),
    Column("type", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", DateTime(timezone=True), nullable=False),
    Column("retry_until", DateTime(timezone=True), nullable=False),
    Column("taken_until", DateTime(timezone=True)),  # a worker is sending it, at most until then
    Column("delivered_at", DateTime(timezone=True)),
    Column("given_up_at", DateTime(timezone=True)),
    Column("last_status", Integer),
    Column("last_error", Text),
    Index(None, "partner_id", "due_at", postgresql_where=text("delivered_at is null and given_up_at is null")),
    Index(None, "partner_id", "created_at", postgresql_where=text("delivered_at is null")),
    Index(None, "delivered_at", postgresql_where=text("delivered_at is not null")),
)

# What partners asked for in the last days, and how it was answered.
PARTNER_REQUEST: Final = Table(
    "partner_request",
    METADATA,
    Column("partner_id", KEY_TEXT, primary_key=True),
    Column("at", DateTime(timezone=True), primary_key=True),
    Column("noted_id", Uuid, primary_key=True),
    Column("request_id", KEY_TEXT, nullable=False),
    Column("mode", Text, nullable=False),
    Column("method", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("took_s", Double, nullable=False),
    Column("problem", Text),
    Column("detail", Text),
    Index(None, "partner_id", "request_id"),
    Index(None, "at"),
    Index("partner_request_refused_idx", "partner_id", "at", "noted_id", postgresql_where=text("status >= 400")),
)

# How far rejections have been turned into deliveries.
WEBHOOK_CURSOR: Final = Table(
    "webhook_cursor",
    METADATA,
    Column("source", Text, primary_key=True),
    Column("xid", Xid8, nullable=False),
    Column("key", KEY_TEXT, nullable=False),
    Column("moved_at", DateTime(timezone=True), nullable=False),
)
