"""The sums of what was posted, by minute and by quarter of an hour."""

from typing import Final

from sqlalchemy import BigInteger, Column, DateTime, Double, Table

from abacus.platform.metadata import KEY_TEXT, METADATA

POINTS_PULSE: Final = Table(
    "points_pulse",
    METADATA,
    Column("step", KEY_TEXT, primary_key=True),
    Column("since", DateTime(timezone=True), primary_key=True),
    Column("country", KEY_TEXT, primary_key=True),
    Column("within_s", Double, primary_key=True),
    Column("awards", BigInteger, nullable=False),
    Column("points", BigInteger, nullable=False),
)
