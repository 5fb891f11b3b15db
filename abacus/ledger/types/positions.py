"""Where a list of a member's transfers goes on, as text: of each program the transfer at which the page ended. Pure."""

import base64
from collections.abc import Mapping
from typing import Final

import orjson

FROM_THE_NEWEST: Final = 2**62


def text_of(positions: Mapping[str, int]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(dict(positions))).decode().rstrip("=")


def read_positions(text: str | None) -> dict[str, int]:
    """Empty without a text. Raises `ValueError` for a text that is none of ours."""
    if text is None:
        return {}
    read = orjson.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    if not isinstance(read, dict) or not all(type(seq) is int and 0 <= seq <= FROM_THE_NEWEST for seq in read.values()):
        raise ValueError(text)
    return read
