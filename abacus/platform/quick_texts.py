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
    if _IS_MOMENT.fullmatch(text) is None:
        return None
    read = _parsed([text])
    return None if read is None else read[0]


def moments_of(texts: Sequence[str]) -> list[datetime] | None:
    """In UTC; None where the other reader has to judge one of them."""
    return _parsed(texts) if texts and all_match(_MOMENTS, texts) else None


def _parsed(texts: Sequence[str]) -> list[datetime] | None:
    try:
        read = list(map(datetime.fromisoformat, texts))
    except ValueError:
        return None
    if min(read) < FROM or max(read) >= BEFORE:
        return None
    return [each if each.tzinfo is UTC else each.astimezone(UTC) for each in read]


def day_of(text: str) -> date | None:
    """None for what the other reader has to judge."""
    if _IS_DAY.fullmatch(text) is None:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FROM.date() <= day < DAYS_BEFORE else None
