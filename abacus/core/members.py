"""Ids of members, as people and files write them. Pure."""

import re
from typing import Final

from abacus.core.ids import ID_PATTERN

_SHOWN: Final = 80  # characters of a faulty value

_is_member = re.compile(ID_PATTERN).fullmatch


def fault_of_member(member_id: str) -> str | None:
    """Why this cannot be the id of a member; None for one that can."""
    if _is_member(member_id) is None:
        return f"{cut(member_id)} is not a member's id: 1 to 128 printable characters, no space at either end"
    if not member_id.isascii() and any("\ud800" <= character <= "\udfff" for character in member_id):
        return f"{cut(member_id)} is not UTF-8"
    return None


def cut(value: str) -> str:
    """The value as a message shows it."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
