"""The paths of routes that are served before the framework, found by their parts. Pure.

A part that varies stands for one part of a path here: an id that holds a slash is left to the framework.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

Target = TypeVar("Target")

_ONE: Final = ("str", "path")  # kinds of parts for which any text will do
_MANY: Final = "path"


class Address(NamedTuple):
    """The method and the path of a route, as the document has them."""

    method: str
    path: str


class _Part(NamedTuple):
    """Between two slashes: a text, or a `kind` of text that varies."""

    text: str
    kind: str | None = None


_Shape: TypeAlias = tuple[str, int]  # the method, and the number of parts


class _Known(NamedTuple, Generic[Target]):
    """A path whose parts vary."""

    fixed: Sequence[tuple[int, str]]
    varying: Sequence[tuple[int, str]]
    target: Target


class HotPaths(Generic[Target]):
    """Finds the target of a path with work that does not grow with the number of routes."""

    def __init__(self, targets: Mapping[Address, Target]) -> None:
        """Raises `ValueError` for a path with a part that not every text fits."""
        self._whole: dict[tuple[str, str], Target] = {}
        self._parted: dict[_Shape, list[_Known[Target]]] = {}
        for (method, path), target in targets.items():
            parts = list(_parts(path))
            if strange := [part.kind for part in parts if part.kind not in {None, *_ONE}]:
                raise ValueError(f"{path}: a part is of the kind {strange[0]}")
            fixed = [(place, part.text) for place, part in enumerate(parts) if part.kind is None]
            varying = [(place, part.text) for place, part in enumerate(parts) if part.kind is not None]
            if varying:
                self._parted.setdefault((method, len(parts)), []).append(_Known(fixed, varying, target))
            else:
                self._whole[method, path] = target

    def find(self, method: str, path: str) -> tuple[Target, dict[str, str]] | None:
        """The target, and the parts of the path that vary."""
        target = self._whole.get((method, path))
        if target is not None:
            return target, {}
        parts = path.split("/")
        for fixed, varying, known in self._parted.get((method, len(parts)), ()):
            if all(parts[place] == text for place, text in fixed):
                found = {name: parts[place] for place, name in varying}
                return (known, found) if all(found.values()) else None
        return None


def first_that_fits(path: str, earlier: Iterable[str]) -> str | None:
    """The first of the earlier paths that some request for this path would reach: the framework takes the first route
    that fits.
    """
    ours = list(_parts(path))
    return next((each for each in earlier if _meet(list(_parts(each)), ours)), None)


def _parts(path: str) -> Iterator[_Part]:
    for text in path.split("/"):
        if text.startswith("{") and text.endswith("}"):
            name, _, kind = text[1:-1].partition(":")
            yield _Part(name, kind or "str")
        else:
            yield _Part(text)


def _meet(theirs: Sequence[_Part], ours: Sequence[_Part]) -> bool:
    if not theirs or not ours:
        return not theirs and not ours
    if theirs[0].kind == _MANY:
        return any(_meet(theirs[1:], ours[taken:]) for taken in range(1, len(ours) + 1))
    same = theirs[0].kind is not None or ours[0].kind is not None or theirs[0].text == ours[0].text
    return same and _meet(theirs[1:], ours[1:])
