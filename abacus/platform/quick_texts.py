"""Texts that can be taken without a doubt: a reader in a hurry takes them, and leaves every other text to the reader
that names faults. Nothing is taken here that `validation` refuses, and nothing is read as another value.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final

from abacus.platform.validation import BEFORE, DAYS_BEFORE, FROM

_HOUR_MINUTE: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_DAY: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
MOMENT_PATTERN: Final = rf"^{_DAY}T{_HOUR_MINUTE}:[0-5][0-9](?:\.[0-9]{{1,6}})?(?:Z|[+-]{_HOUR_MINUTE})$"
_IS_DAY: Final = re.compile(_DAY)
_IS_MOMENT: Final = re.compile(MOMENT_PATTERN[1:-1])


def whole(pattern: str) -> re.Pattern[str]:
    """For `fullmatch`. pydantic's `$` is the end of the text, Python's is also before a last line end."""
    return re.compile(pattern.removeprefix("^").removesuffix("$"))


def lines(pattern: str) -> re.Pattern[str]:
    """For `all_match`. The pattern lets no line end through."""
    return re.compile(rf"(?:(?:{pattern.removeprefix('^').removesuffix('$')})\n)*+")


def all_match(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    """Whether each of the texts has the pattern, by one look at all of them."""
    text = "\n".join([*texts, ""])
    return text.count("\n") == len(texts) and pattern.fullmatch(text) is not None


_MOMENTS: Final = lines(MOMENT_PATTERN)


def moment_of(text: str) -> datetime | None:
    """In UTC; None for what the other reader has to judge."""
    return parsed(text) if _IS_MOMENT.fullmatch(text) is not None else None


def moments_of(texts: Sequence[str]) -> list[datetime] | None:
    """In UTC; None where the other reader has to judge one of them."""
    if not texts or not all_match(_MOMENTS, texts):
        return None
    try:
        read = [datetime.fromisoformat(text).astimezone(UTC) for text in texts]
    except (ValueError, OverflowError):
        return None
    return read if min(read) >= FROM and max(read) < BEFORE else None


def parsed(text: str) -> datetime | None:
    """Of a text of `MOMENT_PATTERN`, in UTC; None for what the other reader has to judge."""
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    # Compared in UTC: times of different zones take ten times as long.
    return moment if FROM <= moment < BEFORE else None


def day_of(text: str) -> date | None:
    """None for what the other reader has to judge."""
    if _IS_DAY.fullmatch(text) is None:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FROM.date() <= day < DAYS_BEFORE else None
