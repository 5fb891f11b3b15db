"""The record of a month's end in a country: how many accounts were entered, enqueued and expired."""

from typing import Final

from sqlalchemy import BigInteger, Column, Date, DateTime, Integer, Table, Text

from abacus.platform.metadata import KEY_TEXT, METADATA

# `swept_at` is null until every account is entered, `finished_at` until every batch is done. The three columns of the
# cursor (`found_…`) name the last account that was entered.
EXPIRY_RUN: Final = Table(
    "expiry_run",
    METADATA,
    Column("country", KEY_TEXT, primary_key=True),
    Column("month", KEY_TEXT, primary_key=True),
    Column("last_day", Date, nullable=False),
    Column("lapsed_at", DateTime(timezone=True), nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("swept_at", DateTime(timezone=True)),
    Column("finished_at", DateTime(timezone=True)),
    Column("found_day", Date, nullable=False),
    Column("found_member", KEY_TEXT, nullable=False),
    Column("found_program", KEY_TEXT, nullable=False),
)

# An envelope is kept from before it is sent until it is done, so that it can be sent again as it was. Its counts are
# written by the transaction that expired it: together they are the run's.
EXPIRY_BATCH: Final = Table(
    "expiry_batch",
    METADATA,
    Column("country", KEY_TEXT, primary_key=True),
    Column("month", KEY_TEXT, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("accounts", Integer, nullable=False),
    Column("body", Text),
    Column("sent_at", DateTime(timezone=True)),
    Column("done_at", DateTime(timezone=True)),
    Column("expired", Integer, nullable=False, server_default="0"),
    Column("skipped", Integer, nullable=False, server_default="0"),
    Column("points", BigInteger, nullable=False, server_default="0"),
)
