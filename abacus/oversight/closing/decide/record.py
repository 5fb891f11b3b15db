"""The record of a month's closes, and which act may follow which. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from abacus.core.errors import Refused
from abacus.programs.expiry.decide.month import Month


class Act(StrEnum):
    """What was done to a month's books."""

    CLOSED = "closed"
    REOPENED = "reopened"


class Signed(NamedTuple):
    """One act on a month, signed. `files` has the SHA-256 of each exported file by its name."""

    month: Month
    number: int
    act: Act
    signed_by: str
    signed_at: datetime
    reason: str
    files: Mapping[str, str]
    accepted: Sequence[str]
    seal: int | None = None
    seal_hash: str | None = None


def closed_months(record: Sequence[Signed]) -> list[Month]:
    """The months that are closed now, in order."""
    last = {each.month: each for each in sorted(record, key=lambda each: each.number)}
    return sorted(month for month, each in last.items() if each.act is Act.CLOSED)


def check_close(record: Sequence[Signed], month: Month) -> None:
    """Months are closed one after the other, because each opens as the one before closed. Raises `Refused`."""
    closed = closed_months(record)
    if month in closed:
        raise Refused(f"{month} is closed; `abacus report close --show` says by whom, --reopen takes that back")
    if closed and closed[-1] != month.before:
        raise Refused(f"{closed[-1]} was closed last, so the next one is {closed[-1].after}, not {month}")


def check_reopen(record: Sequence[Signed], month: Month) -> None:
    """Raises `Refused`."""
    closed = closed_months(record)
    if month not in closed:
        raise Refused(f"{month} is not closed")
    if closed[-1] != month:
        raise Refused(f"{closed[-1]} is closed too, and opens as {month} closed; reopen it first")
