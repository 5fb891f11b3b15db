"""A form as it is shown: controls, panels of them, and lists of rows, each with its place in the document. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.documents.form.path import Path, written
from abacus.documents.form.types import Option

PREFIX: Final = "doc."  # before the name of every control


class Act(NamedTuple):
    """What a button does to the document: `add:steps`. `says` is all of it, for who does not see where it stands."""

    value: str
    label: str
    says: str


@dataclass(frozen=True, kw_only=True)
class Control:
    """One input. `input` is its type: that of HTML, or `textarea`, `select` or `checks`. One that `updates` decides
    which other controls there are. What is `listed` is typed, and a long list of the form helps.
    """

    name: str
    path: str
    label: str
    value: str = ""
    input: str = "text"
    options: Sequence[Option] = ()
    examples: Sequence[str] = ()
    help: str = ""
    required: bool = False
    updates: bool = False
    lines: int = 1
    listed: str = ""
    kind: str = "control"


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Parts that stand together, and what can be done to all of them."""

    path: str
    label: str
    parts: "Sequence[Part]"
    acts: Sequence[Act] = ()
    help: str = ""
    kind: str = "panel"


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Rows of one sort, `folded` until one is asked for. `new` are the controls of one more, where its key is typed."""

    path: str
    label: str
    rows: Sequence[Panel]
    head: Sequence[Control] = ()
    new: Sequence[Control] = ()
    acts: Sequence[Act] = ()
    help: str = ""
    empty: str = ""
    folded: bool = False
    kind: str = "listing"


Part: TypeAlias = Control | Panel | Listing


class Role(StrEnum):
    """What the controls of a spot say together."""

    VALUE = "value"
    TITLED = "titled"
    HOURS = "hours"
    BRANCH = "branch"
    EITHER = "either"
    NEW = "new"
    CONDITION = "condition"
    TURN = "turn"


class Spot(NamedTuple):
    """A place in the document, and the controls that say what stands there. What is emptied goes from the document, but
    where it `keeps` its place. `type`: of a constant.
    """

    role: Role
    path: Path
    of: Any  # the sort, or the choice between ways
    controls: Sequence[Control]
    keeps: bool = False
    type: str = ""


class Named(NamedTuple):
    """What people call a part, with the names of those around it, and the id that it has on a page."""

    label: str
    anchor: str


class Shown(NamedTuple):
    """A document in its form. `optional` are tables and arrays that go with the last that stands in them. `lists` are
    those that are too long to stand at each control.
    """

    parts: Sequence[Panel]
    spots: Sequence[Spot]
    optional: Sequence[Path]
    lists: Mapping[str, Sequence[str]]

    def controls(self) -> Iterator[Control]:
        for panel in self.parts:
            yield from _controls(panel)

    def places(self) -> Iterator[str]:
        """Where faults may stand: the paths of all parts."""
        for panel in self.parts:
            yield from _places(panel)

    def named(self) -> Mapping[str, Named]:
        """By the paths of the parts; of several with one path the first."""
        found: dict[str, Named] = {}
        for panel in self.parts:
            for each in panel.parts:
                for path, named in _named(each, ()):
                    found.setdefault(path, named)
        return found

    def acts(self) -> frozenset[str]:
        """Everything that its buttons may do."""
        return frozenset(act.value for panel in self.parts for act in _acts(panel))


def name_of(path: Path, more: str = "") -> str:
    """Of the control that shows what stands at a path; a name with `more` shows a part of it."""
    return f"{PREFIX}{written(path)}{f'/{more}' if more else ''}"


def _controls(part: Part) -> Iterator[Control]:
    if isinstance(part, Control):
        yield part
        return
    if isinstance(part, Listing):
        yield from (*part.head, *part.new)
    for each in part.rows if isinstance(part, Listing) else part.parts:
        yield from _controls(each)


def _places(part: Part) -> Iterator[str]:
    yield part.path
    if not isinstance(part, Control):
        inside: Sequence[Part] = [*part.head, *part.new, *part.rows] if isinstance(part, Listing) else part.parts
        for each in inside:
            yield from _places(each)


def _named(part: Part, around: tuple[str, ...]) -> Iterator[tuple[str, Named]]:
    names = (*around, part.label) if part.label else around
    anchor = f"field-{part.name}" if isinstance(part, Control) else f"part-{part.path}"
    yield part.path, Named(" · ".join(names), anchor)
    if not isinstance(part, Control):
        inside: Sequence[Part] = [*part.head, *part.new, *part.rows] if isinstance(part, Listing) else part.parts
        for each in inside:
            yield from _named(each, names)


def _acts(part: Part) -> Iterator[Act]:
    if isinstance(part, Control):
        return
    yield from part.acts
    for each in part.rows if isinstance(part, Listing) else part.parts:
        yield from _acts(each)
