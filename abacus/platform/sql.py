"""SQL with named parameters, for a driver that counts them, and the columns of a row type."""

import re
from typing import Any, Final

# A colon and a name. Two colons are a cast.
_NAMED: Final = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")


class Statement:
    """A statement whose parameters are written `:name`. Calling it with a value for each gives what asyncpg takes:
    `await connection.fetch(*STATEMENT(member_id="bob"))`. A value too few or too many is a `TypeError`.
    """

    __slots__ = ("_names", "text")

    def __init__(self, text: str) -> None:
        self._names: dict[str, None] = dict.fromkeys(_NAMED.findall(text))
        numbers = {name: f"${number}" for number, name in enumerate(self._names, 1)}
        self.text = _NAMED.sub(lambda found: numbers[found[1]], text)

    def __call__(self, **values: object) -> tuple[Any, ...]:
        if values.keys() != self._names.keys():
            raise TypeError(f"the statement takes {sorted(self._names)}, not {sorted(values)}: {self.text}")
        return (self.text, *(values[name] for name in self._names))

    def rows(self, rows: "list[dict[str, object]]") -> tuple[str, list[tuple[object, ...]]]:
        """What `executemany` takes: one set of values for each row."""
        return self.text, [self(**row)[1:] for row in rows]


def columns(row_type: type[tuple[Any, ...]], table: str = "") -> str:
    """The fields of a named tuple, as the columns of a select, of that table where one is named: rows come back in the
    order that its constructor takes.
    """
    prefix = f"{table}." if table else ""
    fields: tuple[str, ...] = row_type._fields  # type: ignore[attr-defined]  # no type says "a named tuple"
    return ", ".join(prefix + field for field in fields)
