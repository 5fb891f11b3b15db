"""The processes that run, by their own account."""

from typing import Final

from sqlalchemy import JSON, Column, DateTime, Integer, Table, Text, Uuid

from abacus.platform.metadata import METADATA

WORKER_PROCESS: Final = Table(
    "worker_process",
    METADATA,
    Column("process_id", Uuid, primary_key=True),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("seen_at", DateTime(timezone=True), nullable=False),
    Column("report", JSON, nullable=False),
)
