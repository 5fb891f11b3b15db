"""The ledger's schema. Every primary key begins with the member, or is the idempotency key itself."""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Index,
    LargeBinary,
    SmallInteger,
    Table,
    Text,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import UserDefinedType

from abacus.platform.metadata import KEY_TEXT, METADATA


class Xid8(UserDefinedType[int]):
    """Postgres' 64-bit transaction id."""

    cache_ok = True

    def __init__(self, *_: Any, **__: Any) -> None:
        """Reflection passes what it would pass to any type."""

    def get_col_spec(self, **_kw: Any) -> str:
        return "xid8"


# So that a schema read back from a database knows the type: migrations are compared with these tables that way.
ischema_names["xid8"] = Xid8

CLAIM: Final = Table(
    "claim",
    METADATA,
    Column("key", KEY_TEXT, primary_key=True),
    Column("member_id", KEY_TEXT, nullable=False),
    Column("program", KEY_TEXT, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("fingerprint", Text, nullable=False),
)

ACCOUNT: Final = Table(
    "account",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("country", Text, nullable=False),
    Column("balance", BigInteger, nullable=False, server_default="0"),
    Column("held", BigInteger, nullable=False, server_default="0"),
    Column("earned_total", BigInteger, nullable=False, server_default="0"),
    Column("expires_on", Date),
    Column("last_seq", BigInteger, nullable=False, server_default="0"),
    Column("head_hash", LargeBinary, nullable=False, server_default=text(r"'\x'")),
    # The transaction of the last transfer: no later transfer may carry a smaller one (docs/adr/0003).
    Column("last_xid", Xid8, nullable=False, server_default=text("'0'")),
    # How far its lots are used up, when it last lapsed, and whether each lot has a day of its own (docs/adr/0016).
    Column("lots_closed", BigInteger, nullable=False, server_default="0"),
    Column("lots_drawn", BigInteger, nullable=False, server_default="0"),
    Column("lapsed_seq", BigInteger, nullable=False, server_default="0"),
    Column("lifetime", Boolean, nullable=False, server_default=text("false")),
    # Its day by activity: `expires_on` goes with the points, this stays (docs/adr/0043).
    Column("active_until", Date),
    Index(None, "country", "expires_on", "member_id", "program"),  # a month's end finds its accounts in this order
    # Room on each page for the next version of a row: updates stay on the page and leave the index alone.
    postgresql_with={"fillfactor": "70"},
)

TRANSFER: Final = Table(
    "transfer",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("balance_after", BigInteger, nullable=False),
    Column("key", KEY_TEXT, nullable=False),
    Column("country", Text, nullable=False),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    Column("posted_at", DateTime(timezone=True), nullable=False),
    Column("expires_on", Date),
    # json and not jsonb: the text stays as it was written, because the hash covers that text.
    Column("explanation", JSON, nullable=False),
    Column("reverses", Text),
    Column("actor", Text),
    Column("xid", Xid8, nullable=False, server_default=text("pg_current_xact_id()")),
    Column("hash", LargeBinary, nullable=False),
    # The fields that the hash covers (`ledger/decide/chain.py`); rows of format 1 were written without a source,
    # those before format 3 without the way in which the account lapses.
    Column("format", SmallInteger, nullable=False, server_default="1"),
    Column("source", Text),
    Column("lifetime", Boolean),
    Index(None, "xid"),  # the relay reads in commit order
    Index(None, "posted_at", postgresql_using="brin"),  # the relay is rewound to a time
    # The earlier reversals of a transfer.
    Index(None, "member_id", "program", "reverses", postgresql_where=text("reverses is not null")),
)

# Points that a transfer took from one lot by name, rather than from the oldest. Append-only, as transfers are.
DRAW: Final = Table(
    "draw",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("lot_seq", BigInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("points", BigInteger, nullable=False),
)

# Points held for someone, changed only under the lock of their account.
HOLD: Final = Table(
    "hold",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("hold_id", Uuid, primary_key=True),
    Column("program", KEY_TEXT, nullable=False),
    Column("country", Text, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("until", DateTime(timezone=True), nullable=False),
    Column("status", Text, nullable=False),
    Column("held_by", Text, nullable=False),
    Column("placed_seq", BigInteger, nullable=False),
    Column("settled_seq", BigInteger),
    Index(None, "until", postgresql_where=text("status = 'open'")),  # overdue holds
)

# Each partner's limits, and the points that it has awarded. Each batch with an award of the partner locks its row. In a
# ledger in slices these are the points that slices have awarded, or may award: their parts say which.
ALLOWANCE: Final = Table(
    "allowance",
    METADATA,
    Column("partner_id", KEY_TEXT, primary_key=True),
    Column("per_award", BigInteger),
    Column("per_member_day", BigInteger),
    Column("per_day", BigInteger),
    Column("in_total", BigInteger),
    Column("used", BigInteger, nullable=False, server_default="0"),
    Column("day", Date, nullable=False, server_default=text("'-infinity'")),
    Column("used_that_day", BigInteger, nullable=False, server_default="0"),
)

# What a slice has awarded for a partner, and how much of the partner's budgets is elsewhere (docs/adr/0061). Only where
# there are slices.
ALLOWANCE_PART: Final = Table(
    "allowance_part",
    METADATA,
    Column("partner_id", KEY_TEXT, primary_key=True),
    Column("per_award", BigInteger),
    Column("per_member_day", BigInteger),
    Column("per_day", BigInteger),
    Column("in_total", BigInteger),
    Column("used", BigInteger, nullable=False),
    Column("day", Date, nullable=False),
    Column("used_that_day", BigInteger, nullable=False),
    Column("elsewhere", BigInteger, nullable=False),
    Column("elsewhere_that_day", BigInteger, nullable=False),
)

ALLOWANCE_MEMBER: Final = Table(
    "allowance_member",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("partner_id", KEY_TEXT, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("used", BigInteger, nullable=False),
)

# The points that an actor moved without a second person, and those so moved of a member (`member:bob`), by day. The log
# lies where this does, at one place also in a ledger in slices.
MOVED_ALONE: Final = Table(
    "moved_alone",
    METADATA,
    Column("whose", KEY_TEXT, primary_key=True),
    Column("day", Date, primary_key=True),
    Column("points", BigInteger, nullable=False),
)

# Awards that met a limit, kept for ever as claims are.
REJECTION: Final = Table(
    "rejection",
    METADATA,
    Column("key", KEY_TEXT, primary_key=True),
    Column("member_id", KEY_TEXT, nullable=False),
    Column("program", KEY_TEXT, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("rejected_at", DateTime(timezone=True), nullable=False),
    Column("xid", Xid8, nullable=False, server_default=text("pg_current_xact_id()")),
    Index(None, "xid"),  # webhooks read rejections in commit order
)

# Awards requested by partners, by the id that the partner knows. `queued_at` is null until the queue has taken it.
PARTNER_AWARD: Final = Table(
    "partner_award",
    METADATA,
    Column("award_id", Uuid, primary_key=True),
    Column("key", KEY_TEXT, nullable=False),
    Column("partner_id", KEY_TEXT, nullable=False),
    Column("member_id", KEY_TEXT, nullable=False),
    Column("program", KEY_TEXT, nullable=False),
    Column("country", Text, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("occurred_at", DateTime(timezone=True), nullable=False),
    Column("expires_on", Date, nullable=False),
    Column("activity", Boolean, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("explanation", JSON, nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    Column("taken_until", DateTime(timezone=True)),  # a process is sending it, at most until then
    Column("queued_at", DateTime(timezone=True)),
    Column("lifetime", Boolean, nullable=False, server_default=text("false")),
    Column("provisional", Boolean, nullable=False, server_default=text("false")),
)

# The slices of a ledger that is cut: docs/adr/0061. Without a row it is not.
SLICE: Final = Table("slice", METADATA, Column("number", SmallInteger, primary_key=True, autoincrement=False))

# Slices that have had their step of the migration that is under way: docs/adr/0076.
SLICE_STEP: Final = Table(
    "slice_step",
    METADATA,
    Column("number", SmallInteger, primary_key=True, autoincrement=False),
    Column("revision", KEY_TEXT, nullable=False),
)

# Each key with the slice that it belongs to, entered before anything is written under it. Only where there are slices.
KEY_SLICE: Final = Table(
    "key_slice",
    METADATA,
    Column("key", KEY_TEXT, primary_key=True),
    Column("slice", SmallInteger, nullable=False),
)

RELAY_CURSOR: Final = Table(
    "relay_cursor",
    METADATA,
    Column("topic", Text, primary_key=True),
    Column("xid", Xid8, nullable=False),
    Column("member_id", KEY_TEXT, nullable=False),
    Column("program", KEY_TEXT, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("moved_at", DateTime(timezone=True), nullable=False),
)

# `published_at` is null until the brokers have it. All else of a seal is never changed.
SEAL: Final = Table(
    "seal",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("sealed_at", DateTime(timezone=True), nullable=False),
    Column("accounts", BigInteger, nullable=False),
    Column("transfers", BigInteger, nullable=False),
    Column("root", LargeBinary, nullable=False),
    Column("snapshot", Text, nullable=False),
    Column("previous", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    # The fields that its leaves and its own hash cover (`proof/decide/seal.py`).
    Column("format", SmallInteger, nullable=False, server_default="1"),
    Column("published_at", DateTime(timezone=True)),
    # How many entries the chain of the log had, and the hash of the last; not of the first format.
    Column("log_entries", BigInteger),
    Column("log_head", LargeBinary),
    Index(None, "published_at", postgresql_where=text("published_at is null")),
)

# What a seal has of each slice; of a ledger that is not cut there are no rows.
SEAL_SLICE: Final = Table(
    "seal_slice",
    METADATA,
    Column("seal_number", BigInteger, primary_key=True, autoincrement=False),
    Column("slice", SmallInteger, primary_key=True, autoincrement=False),
    Column("accounts", BigInteger, nullable=False),
    Column("transfers", BigInteger, nullable=False),
    Column("root", LargeBinary, nullable=False),
)

# The leaf of an old seal's tree for an account that bears another name now (docs/adr/0017), and its place among the
# leaves. The account itself, under the name that it has now, is left out of that tree.
SEALED_LEAF: Final = Table(
    "sealed_leaf",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("program", KEY_TEXT, primary_key=True),
    Column("seal_number", BigInteger, primary_key=True, autoincrement=False),
    Column("position", BigInteger, nullable=False),
    Column("leaf", LargeBinary, nullable=False),
    Column("transfers", BigInteger, nullable=False),
    Index(None, "seal_number", "position"),
)
