"""Steps by which a document becomes another one: each changes what stands at one path. Pure."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple, TypeAlias

from abacus.documents.form.path import Path, found
from abacus.documents.form.types import Table


class Put(NamedTuple):
    """A value stands there, in place of what stood there; at the end of an array it is one more."""

    path: Path
    value: Any


class Take(NamedTuple):
    """What stands there goes."""

    path: Path


class Move(NamedTuple):
    """The entry of an array comes to another place of it."""

    path: Path
    to: int


Step: TypeAlias = Put | Take | Move


def applied(document: Table, steps: Sequence[Step]) -> dict[str, Any]:
    """The document after the steps. Tables that a path needs are made."""
    after: dict[str, Any] = deepcopy(dict(document))
    for step in steps:
        _apply(after, step)
    return after


def changed_elsewhere(shown: Table, now: Table, steps: Sequence[Step]) -> list[Path]:
    """Where a document says something else by now than it said when the steps were made of it, and than they say."""
    mine = [each for each in steps if not (isinstance(each, Put) and found(now, each.path) == each.value)]
    return [path for path in {_place(each): None for each in mine} if found(shown, path) != found(now, path)]


def _place(step: Step) -> Path:
    """What a step was made of: of an entry of an array the whole array, for its place may be another by now."""
    for at, part in enumerate(step.path):
        if isinstance(part, int):
            return step.path[:at]
    return step.path


def _apply(document: dict[str, Any], step: Step) -> None:
    *parents, last = step.path
    at: Any = document
    for part in parents:
        if isinstance(part, str):
            if not isinstance(at.get(part), dict | list):
                at[part] = {}
            at = at[part]
        else:
            at = at[part]
    match step:
        case Put(value=value):
            if isinstance(last, int) and last >= len(at):
                at.append(deepcopy(value))
            else:
                at[last] = deepcopy(value)
        case Take():
            if isinstance(last, int) or last in at:
                del at[last]
        case Move(to=to):
            at.insert(to, at.pop(last))
