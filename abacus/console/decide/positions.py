"""Where a member's timeline goes on: of each program the transfer below which the next page begins. Pure."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

import orjson

FROM_THE_NEWEST: Final = 2**62


def text_of(below: Mapping[str, int]) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(dict(below))).decode().rstrip("=")


def read_positions(text: str | None) -> Mapping[str, int]:
    """Raises `ValueError` for a text that is none of ours."""
    if not text:
        return {}
    try:
        read = orjson.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if not isinstance(read, dict) or not all(type(seq) is int and 0 <= seq <= FROM_THE_NEWEST for seq in read.values()):
        raise ValueError(text)
    return read
