"""What the doctor finds."""

from enum import StrEnum
from typing import NamedTuple


class Grade(StrEnum):
    """How a finding is meant."""

    GOOD = "good"
    ADVICE = "advice"  # it works, and could be cheaper or quicker
    WRONG = "wrong"  # something that was promised does not hold


class Finding(NamedTuple):
    """A thing that was looked at on a server, how it is, and what to do where that is not good."""

    server: str
    what: str
    found: str
    grade: Grade
    remedy: str = ""
