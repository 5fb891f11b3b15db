"""What a change of a segment would do, in sentences. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from abacus.signals.segments.types import BadLine, How, Outlook

DONE: Final[Mapping[str, str]] = {
    How.LOAD: "loaded",
    How.ADD: "members put in",
    How.REMOVE: "members taken out",
    How.INTERSECT: "cut down to another",
    How.UNION: "joined with another",
    How.SUBTRACT: "another taken out",
    How.DROP: "dropped",
}
_SHOWN: Final = 10  # ids, or lines


def sentences(how: How, seen: Outlook, *, again: int = 0) -> list[str]:
    """`again`: how many lines name a member that stands above."""
    told = [] if seen.added or seen.removed else ["It has these members already: nothing changes."]
    if seen.added:
        told.append(f"{_members(seen.added)} put in.")
    if seen.removed:
        told.append(f"{_members(seen.removed)} taken out.")
    if seen.idle:
        told.append(f"{_members(seen.idle)} {'not in it' if how is How.REMOVE else 'in it already'}.")
    if again:
        told.append(
            f"{again:,} line{'' if again == 1 else 's'} more name{'s' if again == 1 else ''} one of them again."
        )
    if seen.strangers:
        shown = ", ".join(seen.strangers[:_SHOWN])
        more = f" and {len(seen.strangers) - _SHOWN:,} more" if len(seen.strangers) > _SHOWN else ""
        told.append(f"{_members(len(seen.strangers))} without an account, put in all the same: {shown}{more}.")
    return told


def faults(bad: Sequence[BadLine]) -> str:
    """What is wrong with a list."""
    shown = "; ".join(map(str, bad[:_SHOWN]))
    more = f"; and {len(bad) - _SHOWN:,} lines more" if len(bad) > _SHOWN else ""
    return f"{shown[:1].upper()}{shown[1:]}{more}. Nothing is changed by a list with such a line."


def _members(count: int) -> str:
    return f"{count:,} {'member is' if count == 1 else 'members are'}"
