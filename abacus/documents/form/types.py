"""What a document has: its fields, their sorts, and the choices that are there at the moment. Pure values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

Table: TypeAlias = Mapping[str, Any]

# What a field says in the sentences of its document: a template over the words of its table, in which `{}` are its own,
# and `(s)` is the plural of its number; or a function of its value and its table.
Says: TypeAlias = str | Callable[[Any, Table], str]


class Option(NamedTuple):
    """A value that can be chosen, and what people read."""

    value: str
    words: str
    under: str = ""  # the heading that it stands under


def options(values: Iterable[str]) -> list[Option]:
    """Values that people read as they are."""
    return [Option(each, each) for each in values]


@dataclass(frozen=True, slots=True)
class Text:
    """A text. `lines`: how many are shown. `listed` names the choices that it is usually one of."""

    lines: int = 1
    pattern: str | None = None
    listed: str | None = None


@dataclass(frozen=True, slots=True)
class Titled:
    """A text whose first line is a title."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number, from `low` to `high`."""

    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """A decimal, as a text: money, or a multiplier."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """The only value that the field can have: to be there is what it says."""

    value: bool | int | str


@dataclass(frozen=True, slots=True)
class Moment:
    """A time with its offset, by the clock of the zone that the field `zone` names, at the top of the document."""

    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the calendar, as a text."""


@dataclass(frozen=True, slots=True)
class Clock:
    """An hour of the day, such as 17:00."""


@dataclass(frozen=True, slots=True)
class Hours:
    """A span of the day, such as 06:00-10:00."""


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time, such as 90m. `units` are the letters that it may end with."""

    units: str = "smhd"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some values."""

    options: Sequence[Option]


@dataclass(frozen=True, slots=True)
class Pick:
    """One of what exists: `listed` names the choices."""

    listed: str


@dataclass(frozen=True, slots=True)
class Several:
    """An array of some of these values, each once, in this order."""

    of: Choice


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of the type that a variable has: that of the key of its entry, of the event that the field `by` names two
    tables above, or what is copied from a variable, such as `var.amount`.
    """

    by: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Conditions: all, any or none of them, or a comparison of a left side with a constant. `zone` as of a `Moment`."""

    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A table. One that is not required goes with its last field."""

    fields: "Sequence[Field | OneOf]"


@dataclass(frozen=True, slots=True)
class Rows:
    """An array: each entry is of the sort `of`, and people call it `noun`."""

    of: "Sort"
    noun: str
    at_most: int = 100


@dataclass(frozen=True, slots=True)
class Entries:
    """A table whose keys the author chooses. `key` says what those are, and people call an entry `noun`."""

    key: "Text | Pick"
    of: "Sort"
    noun: str
    first: str | None = None  # the key of an entry that a new table begins with
    folded: bool = False  # whether each entry is shown when it is asked for


@dataclass(frozen=True, slots=True)
class Either:
    """A value of one of several sorts, the first that it fits; each has a word for it."""

    sorts: "Sequence[tuple[str, Sort]]"


Scalar: TypeAlias = (
    Text
    | Titled
    | Whole
    | Amount
    | Flag
    | Fixed
    | Moment
    | Day
    | Clock
    | Hours
    | Length
    | Choice
    | Pick
    | Several
    | Constant
)
Sort: TypeAlias = Scalar | Rule | Group | Rows | Entries | Either


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a table. `begins` begins a sentence, which the field then has to itself; what a field without it
    `says` belongs to the sentence of its table.
    """

    name: str
    sort: Sort
    label: str
    help: str = ""
    required: bool = False
    example: Any = None
    begins: str | None = None
    says: Says | None = None
    usual: str = ""  # what a document means that leaves it out, in words


@dataclass(frozen=True, slots=True)
class Branch:
    """One way: its fields are there, and those of the others are not. `says` is for a way that has none."""

    label: str
    fields: Sequence[Field] = ()
    says: str | None = None


@dataclass(frozen=True, slots=True)
class OneOf:
    """Exactly one of several ways, over keys of the same table. A way with fixed values holds where the table has them,
    another way where one of its keys is there. The last way without fields holds where none is there, or else the
    first.
    """

    name: str  # of the choice, unlike that of any field beside it
    label: str
    branches: Sequence[Branch]
    help: str = ""

    def branch(self, table: Table) -> int:
        """The place of the way that holds in a table."""
        for place, each in enumerate(self.branches):
            if _holds(each, table):
                return place
        return next((place for place, each in enumerate(self.branches) if not each.fields), 0)


def _holds(branch: Branch, table: Table) -> bool:
    fixed = {each.name: each.sort.value for each in branch.fields if isinstance(each.sort, Fixed)}
    if fixed:
        return all(table.get(name) == value for name, value in fixed.items())
    return any(each.name in table for each in branch.fields)


@dataclass(frozen=True, slots=True)
class Form:
    """All fields of a kind of documents; the fields of a `panel` stand together under its title."""

    fields: Sequence[Field | OneOf]
    panels: Sequence[tuple[str, Sequence[str]]] = ()

    @property
    def group(self) -> Group:
        return Group(self.fields)


class Side(NamedTuple):
    """A left side of conditions: its type, its operators, and values that are likely. A side such as `rides(7d)` has an
    `argument`, which the author may change.
    """

    text: str
    words: str
    type: str
    operators: Sequence[str]
    examples: Sequence[str] = ()
    about: str = ""  # the heading that it stands under
    argument: str | None = None


@dataclass(frozen=True)
class Choices:
    """What can be chosen at the moment: named lists, the left sides of conditions by their text, and the types of the
    variables of each type of events.
    """

    lists: Mapping[str, Sequence[Option]] = field(default_factory=dict)
    sides: Mapping[str, Side] = field(default_factory=dict)
    variables: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, listed: str) -> Sequence[Option]:
        return self.lists.get(listed, ())


NO_CHOICES: Final = Choices()


def flat(fields: Sequence[Field | OneOf]) -> list[Field]:
    """All fields of a table, whatever way is taken."""
    return [one for each in fields for one in (all_of(each) if isinstance(each, OneOf) else [each])]


def all_of(choice: OneOf) -> list[Field]:
    return [one for branch in choice.branches for one in branch.fields]


def held(fields: Sequence[Field | OneOf], table: Table) -> list[Field]:
    """The fields of a table on the way that it takes."""
    found: list[Field] = []
    for each in fields:
        found += each.branches[each.branch(table)].fields if isinstance(each, OneOf) else [each]
    return found
