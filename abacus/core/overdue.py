"""A job that should have run, as its capability tells it."""

from datetime import timedelta
from typing import Final, NamedTuple

LATE: Final = timedelta(hours=26)  # a daily job has had its time


class Overdue(NamedTuple):
    """A job that should have run."""

    job: str
    country: str | None
    detail: str
    command: str
