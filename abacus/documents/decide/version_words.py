"""Versions in words: their names, and what is different between two of them. Pure."""

import re
from collections.abc import Iterable
from typing import TypeAlias

from abacus.core.errors import Refused

Parts: TypeAlias = Iterable[tuple[str, str]]  # each part of a document with its path, in words


def changed_parts(name: str, before: Parts | None, after: Parts) -> list[str]:
    """One line a part that differs, by its path. Of a first version everything is new."""
    now = dict(after)
    if before is None:
        return [f"first version of {name}", *(f"{path}: {words}" for path, words in now.items())]
    was = dict(before)
    paths = [path for path in {**was, **now} if was.get(path) != now.get(path)]
    return [_changed(path, was.get(path), now.get(path)) for path in paths]


def _changed(path: str, was: str | None, now: str | None) -> str:
    if was is None:
        return f"{path}: added, {now}"
    if now is None:
        return f"{path}: removed (was {was})"
    return f"{path}: {was} → {now}"


class Labels:
    """The labels of one kind, by the pattern of its names. Versions count from `first`."""

    def __init__(self, thing: str, pattern: str, example: str, *, first: int = 1) -> None:
        number = "0|[1-9][0-9]{0,8}" if first == 0 else "[1-9][0-9]{0,8}"
        self._pattern = re.compile(rf"(?P<name>{pattern})(?:@(?P<version>{number}))?")
        self._refusal = f"does not name a {thing}; write a name such as {example}, or a version such as {example}@3"

    def split(self, label: str) -> tuple[str, int | None]:
        """The name and the version, if one is given. Raises `Refused`."""
        match = self._pattern.fullmatch(label)
        if match is None:
            raise Refused(f"{label!r} {self._refusal}")
        version = match["version"]
        return match["name"], int(version) if version else None
