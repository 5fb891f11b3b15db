"""JSON as the commands print it: times as RFC 3339 writes them, and no character that a terminal obeys."""

import json
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final
from uuid import UUID

from abacus.core.points import plain

# JSON itself escapes only the characters below the space. A terminal obeys the others of these too, and UTF-8 cannot
# carry the last ones. They stand in strings alone, so the document stays the same.
_OBEYED: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def text_of(document: object) -> str:
    """The document as one line. Raises `TypeError` for a value that has no one form in JSON."""
    text = json.dumps(document, ensure_ascii=False, default=_plain)
    return _OBEYED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def rfc3339(moment: datetime) -> str:
    """The time with its offset. Raises `TypeError` when it has none."""
    offset = moment.utcoffset()
    if offset is None:
        raise TypeError(f"the time {moment} has no offset")
    whole = not offset.seconds % 60
    return (moment if whole else moment.astimezone(UTC)).isoformat()


def _plain(value: object) -> object:
    match value:
        case datetime():
            return rfc3339(value)
        case date():
            return value.isoformat()
        case Decimal():
            return plain(value)
        case UUID() | Path():
            return str(value)
        case _:
            raise TypeError(f"a {type(value).__name__} has no form in JSON: {value!r}")
