"""Versions of campaigns, with the state of each."""

from typing import Final

from sqlalchemy import CheckConstraint, Column, DateTime, Index, Integer, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from abacus.platform.metadata import KEY_TEXT, METADATA

# A document is never changed. Of the versions of a campaign one at most is in force.
CAMPAIGN: Final = Table(
    "campaign",
    METADATA,
    Column("name", KEY_TEXT, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("country", Text, nullable=False),
    Column("starts_at", DateTime(timezone=True), nullable=False),
    Column("ends_at", DateTime(timezone=True), nullable=False),
    Column("document", JSONB, nullable=False),
    Column("status", Text, nullable=False),
    Column("drafted_at", DateTime(timezone=True), nullable=False),
    Column("drafted_by", Text, nullable=False),
    Column("changed_at", DateTime(timezone=True), nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("approved_by", Text),
    Column("approved_at", DateTime(timezone=True)),
    Column("reason", Text),
    CheckConstraint(
        "status in ('draft', 'submitted', 'ended') or approved_by is not null", name="campaign_approved_check"
    ),
    Index(None, "status", "ends_at"),
    Index("campaign_in_force", "name", unique=True, postgresql_where=text("status in ('approved', 'paused')")),
)
