"""The record of erasures. It names nobody: an erased member has a pseudonym."""

from typing import Final

from sqlalchemy import Column, DateTime, Table, Text
from sqlalchemy.dialects.postgresql import JSON

from abacus.platform.metadata import KEY_TEXT, METADATA

ERASURE: Final = Table(
    "erasure",
    METADATA,
    Column("pseudonym", KEY_TEXT, primary_key=True),
    Column("erased_at", DateTime(timezone=True), nullable=False),
    Column("erased_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("accounts", JSON, nullable=False),  # of each: transfers, balance, and the head of its chain before and after
    Column("rows", JSON, nullable=False),  # how many were touched, by table
)
