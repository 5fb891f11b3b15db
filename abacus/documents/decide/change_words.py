"""Differences between two versions, in words. Pure."""

from collections.abc import Mapping


def changed_parts(was: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """One line a part that differs, by its path."""
    paths = [path for path in {**was, **now} if was.get(path) != now.get(path)]
    return [_changed(path, was.get(path), now.get(path)) for path in paths]


def all_parts(name: str, now: Mapping[str, str]) -> list[str]:
    """Of a first version everything is new."""
    return [f"first version of {name}", *(f"{path}: {words}" for path, words in now.items())]


def _changed(path: str, was: str | None, now: str | None) -> str:
    if was is None:
        return f"{path}: added, {now}"
    if now is None:
        return f"{path}: removed (was {was})"
    return f"{path}: {was} → {now}"
