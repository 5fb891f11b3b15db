"""The record of closes. A row is never changed: to reopen a month is a row of its own."""

from typing import Final

from sqlalchemy import Column, DateTime, Integer, Table, Text

from abacus.platform.metadata import KEY_TEXT, METADATA

# `files` and `accepted` are JSON texts: the SHA-256 of each file by its name, and the obstacles that were accepted. The
# seal is the first that covers the month's end. A row that reopens the month has no files and no seal.
MONTH_CLOSE: Final = Table(
    "month_close",
    METADATA,
    Column("month", KEY_TEXT, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("act", Text, nullable=False),
    Column("signed_by", Text, nullable=False),
    Column("signed_at", DateTime(timezone=True), nullable=False),
    Column("reason", Text, nullable=False),
    Column("files", Text, nullable=False),
    Column("accepted", Text, nullable=False),
    Column("seal", Integer),
    Column("seal_hash", Text),
)
