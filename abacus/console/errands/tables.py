"""Errands with what they printed, and the files that they wrote."""

from typing import Final

from sqlalchemy import Column, DateTime, Index, Integer, LargeBinary, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, UUID

from abacus.platform.metadata import KEY_TEXT, METADATA

# `digest` is that of the token by which the command acts for the person. It holds while the errand runs.
ERRAND: Final = Table(
    "console_errand",
    METADATA,
    Column("errand_id", UUID(as_uuid=True), primary_key=True),
    Column("kind", KEY_TEXT, nullable=False),
    Column("subject", KEY_TEXT, nullable=False),
    Column("country", KEY_TEXT),
    Column("command", Text, nullable=False),
    Column("arguments", ARRAY(Text), nullable=False),
    Column("papers", Text, nullable=False),
    Column("keeps", ARRAY(Text), nullable=False),
    Column("asked_by", KEY_TEXT, nullable=False),
    Column("asked_at", DateTime(timezone=True), nullable=False),
    Column("state", KEY_TEXT, nullable=False),
    Column("runner", UUID(as_uuid=True)),
    Column("token_prefix", KEY_TEXT),
    Column("token_digest", LargeBinary),
    Column("started_at", DateTime(timezone=True)),
    Column("seen_at", DateTime(timezone=True)),
    Column("ended_at", DateTime(timezone=True)),
    Column("progress", Text),
    Column("exit_code", Integer),
    Column("told", Text),
    Column("output", LargeBinary),
    Index("console_errand_newest_idx", "kind", "subject", text("asked_at desc")),
    Index("console_errand_asked_at_idx", text("asked_at desc"), "errand_id"),
    Index(
        "console_errand_open_idx",
        "asked_at",
        postgresql_where=text("state = 'waiting' or state = 'running'"),
    ),
    Index("console_errand_turns_idx", "asked_by", "started_at"),
    Index("console_errand_token_idx", "token_prefix", unique=True),
)

FILE: Final = Table(
    "console_errand_file",
    METADATA,
    Column("errand_id", UUID(as_uuid=True), primary_key=True),
    Column("name", KEY_TEXT, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)
