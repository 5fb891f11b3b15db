"""Ids of members, as people and files write them. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from abacus.core.ids import ID_PATTERN

_SHOWN: Final = 80  # characters of a faulty value

_SIGNS: Final = ("=", "+", "-", "@")  # how formulas of a spreadsheet begin
# Format characters, such as marks of the direction of writing; separators, but
# for the ASCII space; characters of private use, and what is none.
_UNSEEN: Final = frozenset({"Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
# Letters and marks that are drawn as nothing.
_BLANK: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)

_is_member = re.compile(ID_PATTERN).fullmatch


def fault_of_member(member_id: str) -> str | None:
    """Why this cannot be the id of a member; None if it can."""
    if _is_member(member_id) is None:
        return f"{cut(member_id)} is not a member's id: 1 to 128 printable characters, no space at either end"
    if not member_id.isascii() and any("\ud800" <= character <= "\udfff" for character in member_id):
        return f"{cut(member_id)} is not UTF-8"
    return None


def fault_of_new_member(member_id: str) -> str | None:
    """Why nobody gets this id any more, though members of before may have it: it looks like another id, or runs as a
    formula where a list of members is opened. None for an id that is fine.
    """
    if member_id.startswith(_SIGNS):
        return f"{cut(member_id)} is no id for a new member: it begins with {member_id[0]}, as a formula does"
    if member_id.isascii():
        return None
    for character in member_id:
        if character != " " and (unicodedata.category(character) in _UNSEEN or character in _BLANK):
            what = f"U+{ord(character):04X}, {unicodedata.name(character, 'without a name').lower()}"
            return f"{cut(member_id)} is no id for a new member: it holds {what}, which nobody sees"
    return None


def strange_among(member_ids: Iterable[str]) -> list[str]:
    """The ids that no new member may have."""
    return [each for each in member_ids if fault_of_new_member(each) is not None]


def cut(value: str) -> str:
    """The value as a message shows it."""
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
