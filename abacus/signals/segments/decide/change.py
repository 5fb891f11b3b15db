"""The members of a segment after a change. Pure."""

import re
from typing import Final

from abacus.core.errors import Refused
from abacus.signals.segments.types import NOBODY, Changed, How, Members

NAME_PATTERN: Final = "[a-z][a-z0-9_]{0,63}"

_LABEL: Final = re.compile(rf"(?P<name>{NAME_PATTERN})(?:@(?P<version>[1-9][0-9]{{0,8}}))?")

_is_name = re.compile(NAME_PATTERN).fullmatch


def check_name(name: str) -> None:
    """Raises `Refused`. A rule names the segment as `segment.NAME`."""
    if _is_name(name) is None:
        raise Refused(
            f"{name[:80]!r} is no name of a segment: a small letter, then small letters, digits and _, 64 at most"
        )


def split_label(label: str) -> tuple[str, int | None]:
    """The name and the version of `vip@3`; without a version, None. Raises `Refused`."""
    match = _LABEL.fullmatch(label)
    if match is None:
        raise Refused(f"{label[:80]!r} is no segment; write NAME, or NAME@N for its version N")
    return match["name"], int(match["version"]) if match["version"] else None


def members_after(how: How, before: Members, given: Members, erased: Members) -> Members:
    """Numbers of erased members mean nobody: no version is made with them."""
    return _combined(how, before, given) - erased


def _combined(how: How, before: Members, given: Members) -> Members:
    match how:
        case How.LOAD:
            return given
        case How.ADD | How.UNION:
            return before | given
        case How.REMOVE | How.SUBTRACT:
            return before - given
        case How.INTERSECT:
            return before & given
        case How.DROP:
            return NOBODY


def sentence(changed: Changed) -> str:
    """What a change has done."""
    segment = changed.segment
    if segment.dropped:
        were = "was" if changed.removed == 1 else "were"
        return f"{segment.name} is dropped; {_members(changed.removed)} {were} in it"
    if not changed.made_a_version:
        return f"{segment.label} has these {_members(segment.size)} already: nothing changed"
    return f"{segment.label} has {_members(segment.size)}: {changed.added:,} new, {changed.removed:,} gone"


def _members(count: int) -> str:
    return f"{count:,} member{'' if count == 1 else 's'}"
