"""SQL with named parameters, for a driver that counts them, and the columns of a row type."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from operator import itemgetter
from types import MappingProxyType, UnionType
from typing import Any, Final, TypeVar, get_args, get_type_hints
from uuid import UUID

_SEPARATOR: Final = "\x1f"

# A colon and a name. Two colons are a cast.
_NAMED: Final = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")

# The Postgres types of the fields of a row type, unless the caller names others.
_TYPES: Final[Mapping[type, str]] = MappingProxyType(
    {UUID: "uuid", bool: "boolean", int: "bigint", str: "text", bytes: "bytea", datetime: "timestamptz", date: "date"}
)

Row = TypeVar("Row", bound=tuple[Any, ...])


class Statement:
    """A statement whose parameters are written `:name`. Calling it with a value for each gives the arguments for
    asyncpg: `await connection.fetch(*STATEMENT(member_id="bob"))`. A value too few or too many is a `TypeError`.
    """

    __slots__ = ("_names", "text")

    def __init__(self, text: str) -> None:
        self._names: dict[str, None] = dict.fromkeys(_NAMED.findall(text))
        numbers = {name: f"${number}" for number, name in enumerate(self._names, 1)}
        self.text = _NAMED.sub(lambda match: numbers[match[1]], text)

    def __call__(self, **values: object) -> tuple[Any, ...]:
        if values.keys() != self._names.keys():
            raise TypeError(f"the statement takes {sorted(self._names)}, not {sorted(values)}: {self.text}")
        return (self.text, *(values[name] for name in self._names))

    def rows(self, rows: "list[dict[str, object]]") -> tuple[str, list[tuple[object, ...]]]:
        """The arguments for `executemany`: one set of values for each row."""
        return self.text, [self(**row)[1:] for row in rows]


class Narrowed:
    """A statement with conditions, each under the name of its value; of a value that is None it has none. So a list is
    planned by the index of what it is narrowed to, and not as one statement for all lists. Conditions stand at
    `{where}`, or behind others at `{and}`.
    """

    __slots__ = ("_conditions", "_made", "_text")

    def __init__(self, text: str, **conditions: str) -> None:
        self._text = text
        self._conditions = conditions
        self._made: dict[tuple[str, ...], Statement] = {}

    def __call__(self, narrowed: Mapping[str, object], **values: object) -> tuple[Any, ...]:
        """`narrowed` has the values of conditions, and the other values that these name."""
        given = {name: value for name, value in narrowed.items() if value is not None}
        names = tuple(name for name in self._conditions if name in given)
        if names not in self._made:
            conditions = " and ".join(self._conditions[name] for name in names)
            where, and_ = (f"where {conditions}", f"and {conditions}") if names else ("", "")
            self._made[names] = Statement(self._text.replace("{where}", where).replace("{and}", and_))
        return self._made[names](**given, **values)


def narrowed_to(countries: Sequence[str] | None) -> Mapping[str, object]:
    """For conditions on the `country` and on `countries`: one country is looked for by itself, which an index finds in
    the order of time.
    """
    if countries is not None and len(countries) == 1:
        return {"country": countries[0]}
    return {"countries": countries}


def columns(row_type: type[tuple[Any, ...]], table: str = "") -> str:
    """The fields of a named tuple, as the columns of a select, each with the table's name if that is given: rows come
    back in the order of its constructor.
    """
    prefix = f"{table}." if table else ""
    return ", ".join(prefix + field for field in _fields(row_type))


def parameters(row_type: type[tuple[Any, ...]]) -> str:
    """The fields of a named tuple, as the parameters of an insert: `INSERT(**row._asdict())` has their values."""
    return ", ".join(f":{field}" for field in _fields(row_type))


def unnested(*row_types: type[tuple[Any, ...]], **types: str) -> str:
    """Rows as a table of a statement, one array a column: `STATEMENT(**arrays(RowType, rows))` has their values.
    Columns of several row types stand side by side. `types` names the Postgres types of columns where Python's type
    does not determine them.
    """
    casts = (
        f":{field}::{types.get(field) or _type_of(row_type, field, hint)}[]"
        for row_type in row_types
        for field, hint in get_type_hints(row_type).items()
    )
    return f"unnest({', '.join(casts)}) as u ({', '.join(map(columns, row_types))})"


def arrays(row_type: type[Row], rows: Sequence[Row]) -> dict[str, list[object]]:
    """The values for `unnested`, in the order of the rows."""
    return {field: [row[place] for row in rows] for place, field in enumerate(_fields(row_type))}


def column(values: Iterable[object]) -> str:
    """Many values as one text, which `array` turns into an array again; None becomes null.

    asyncpg looks at each element of an array several times over, which cost more than all the rest of posting;
    Postgres splits a text for a tenth of it. Raises `ValueError` when a value holds the separator.
    """
    texts = ["" if value is None else str(value) for value in values]
    joined = _SEPARATOR.join(texts)
    if joined.count(_SEPARATOR) != max(0, len(texts) - 1):
        raise ValueError("a value holds the control character U+001F")
    return joined


def numbers(values: list[int]) -> str:
    """Many numbers as the text of an array, which `numbered` turns into one: half the work of a `column`."""
    return f"{{{str(values)[1:-1]}}}"


def numbered(name: str) -> str:
    """The array of integers in a parameter that was made by `numbers`."""
    return f":{name}::text::integer[]"


def array(name: str, type_: str) -> str:
    """The array in a parameter that was made by `column`."""
    return f"string_to_array(:{name}::text, e'\\x1f', '')::{type_}[]"


def text_arrays(row_type: type[tuple[Any, ...]], *fields: str) -> str:
    """An `array` for each of these fields of a row type, or for all: `STATEMENT(**text_columns(RowType, rows))` has
    their values.
    """
    hints = get_type_hints(row_type)
    return ", ".join(array(field, _type_of(row_type, field, hints[field])) for field in fields or _fields(row_type))


def text_columns(row_type: type[Row], rows: Sequence[Row], *fields: str) -> dict[str, str]:
    """The values for `text_arrays`, in the order of the rows."""
    places = {field: place for place, field in enumerate(_fields(row_type))}
    return {field: column(map(itemgetter(places[field]), rows)) for field in fields or places}


def row_of(row_type: type[Row], record: Any) -> Row:
    """The fields of a row type, out of a record with more fields."""
    return row_type._make(record[field] for field in _fields(row_type))  # type: ignore[attr-defined,no-any-return]  # as below


def _fields(row_type: type[tuple[Any, ...]]) -> tuple[str, ...]:
    return row_type._fields  # type: ignore[attr-defined,no-any-return]  # no type says "a named tuple"


def _type_of(row_type: type[tuple[Any, ...]], field: str, hint: Any) -> str:
    """The type of a column's values, null left out."""
    kinds = [each for each in get_args(hint) if each is not type(None)] if isinstance(hint, UnionType) else [hint]
    if len(kinds) == 1:
        for kind, name in _TYPES.items():
            if issubclass(kinds[0], kind):
                return name
    raise TypeError(f"{row_type.__name__}.{field}: say its type for Postgres, there is none for {hint}")
