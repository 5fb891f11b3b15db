"""Pots and slots: what was handed out of the limits that all members share."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, Table

from abacus.platform.metadata import KEY_TEXT, METADATA

# What was handed out of each limit that all members share; the limit itself stands in the document.
LIMIT_POT: Final = Table(
    "limit_pot",
    METADATA,
    Column("owner_kind", KEY_TEXT, primary_key=True),
    Column("owner", KEY_TEXT, primary_key=True),
    Column("period", KEY_TEXT, primary_key=True),
    Column("runs", BigInteger, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
)

# What is left in the hand of each process of what was handed out, by the limits of a version.
LIMIT_SLOT: Final = Table(
    "limit_slot",
    METADATA,
    Column("owner_kind", KEY_TEXT, primary_key=True),
    Column("owner", KEY_TEXT, primary_key=True),
    Column("period", KEY_TEXT, primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("version", Integer, nullable=False),
    Column("runs", BigInteger, nullable=False),
    Column("points", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
)
