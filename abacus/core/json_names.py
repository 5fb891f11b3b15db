"""Members of a JSON object that names one of them twice: readers disagree about which one counts."""

from collections.abc import Sequence
from typing import Any, TypeAlias

Members: TypeAlias = Sequence[tuple[str, Any]]


class NamedTwice(ValueError):
    """An object names a member twice."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} stands twice in one object")
        self.name = name


def each_once(members: Members) -> dict[str, Any]:
    """The object of these members, as a hook of a JSON decoder. Raises `NamedTwice`."""
    by_name = dict(members)
    if len(by_name) < len(members):
        raise NamedTwice(standing_twice(members))
    return by_name


def standing_twice(members: Members) -> str:
    """The name that stands twice among members of which one does."""
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            return name
        seen.add(name)
    raise AssertionError("each member stands once")
