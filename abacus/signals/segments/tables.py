"""Versions of segments, and the numbers by which they name members."""

from typing import Final

from sqlalchemy import Column, DateTime, Index, Integer, LargeBinary, Table, Text

from abacus.platform.metadata import KEY_TEXT, METADATA

# A version is never changed, and the latest is in force. The last few of each segment are kept.
SEGMENT_VERSION: Final = Table(
    "segment_version",
    METADATA,
    Column("name", KEY_TEXT, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("country", Text),
    Column("how", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("created_by", Text, nullable=False),
    Column("members", LargeBinary, nullable=False),
)

# A number is given once, from `member_number_next`, whose row is locked until the number is committed: so no two
# members have one number, without a unique key that does not begin with the member.
MEMBER_NUMBER: Final = Table(
    "member_number",
    METADATA,
    Column("member_id", KEY_TEXT, primary_key=True),
    Column("number", Integer, nullable=False),
    Index("member_number_number_idx", "number"),
)
MEMBER_NUMBER_NEXT: Final = Table(
    "member_number_next",
    METADATA,
    Column("of", KEY_TEXT, primary_key=True),
    Column("next", Integer, nullable=False),
)

# These numbers mean nobody any more, and never will again.
MEMBER_NUMBER_ERASED: Final = Table(
    "member_number_erased", METADATA, Column("number", Integer, primary_key=True, autoincrement=False)
)
