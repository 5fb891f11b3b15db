"""The names of files that are taken from a task: what it is, and the month or day that it is about. Pure."""

import re
from typing import Final

from abacus.console.errands.types import Errand

_TIME: Final = re.compile(r"20\d\d-\d\d(-\d\d)?")


def file_name(errand: Errand, ending: str, table: str | None = None) -> str:
    """`report-rollforward-2026-06-rows.csv`; a task about no month is of the day on which it was asked for."""
    time = errand.subject if _TIME.fullmatch(errand.subject) else errand.asked_at.date().isoformat()
    return f"{'-'.join(filter(None, (errand.kind, time, table)))}.{ending}"
