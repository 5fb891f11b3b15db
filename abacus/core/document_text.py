"""Documents as text: TOML and JSON, read with the place of a fault; and TOML, written."""

import json
import re
import tomllib
from collections.abc import Mapping
from datetime import datetime

from abacus.core.fields import DocumentFaults, Fault
from abacus.core.json_names import NamedTwice, each_once


class Inline(dict[str, object]):
    """A table that is written within one line."""


class Tables(list[Mapping[str, object]]):
    """An array of tables, each written under a heading of its own."""


def read_toml(text: str) -> dict[str, object]:
    """Raises `DocumentFaults` for text that is not TOML, with the line and column."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentFaults([_syntax_fault(text, error)]) from None


def read_json(text: str) -> object:
    """Raises `DocumentFaults` for text that is not JSON, with the line and column, and for a name that stands twice."""
    try:
        return json.loads(text, object_pairs_hook=each_once)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DocumentFaults([Fault(place, f"not JSON: {error.msg}")]) from None
    except NamedTwice as error:
        raise DocumentFaults([Fault("document", f"{json.dumps(error.name)} stands twice in one table")]) from None
    except (ValueError, RecursionError) as error:
        message = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise DocumentFaults([Fault("document", message)]) from None


def write_toml(document: Mapping[str, object]) -> str:
    """The document as a person writes it. `read_toml` makes the same document of it again."""
    return "\n".join(_lines(document, "")) + "\n"


def _lines(table: Mapping[str, object], path: str, *, of_many: bool = False) -> list[str]:
    heading = f"[[{path}]]" if of_many else f"[{path}]"
    plain = not table or not all(map(_has_heading, table.values()))
    lines = [heading] if of_many or (path and plain) else []
    tables: list[str] = []
    for name, value in table.items():
        inside = f"{path}.{_key(name)}" if path else _key(name)
        if isinstance(value, Tables) and value:
            for each in value:
                tables += ["", *_lines(each, inside, of_many=True)]
        elif isinstance(value, Mapping) and _has_heading(value):
            inner = _lines(value, inside)
            tables += inner if inner[:1] == [""] else ["", *inner]
        else:
            lines.append(f"{_key(name)} = {_value(value)}")
    return lines + tables


def _has_heading(value: object) -> bool:
    return bool(value) if isinstance(value, Tables) else isinstance(value, Mapping) and not isinstance(value, Inline)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {_value(each)}' for name, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return _text(value)


def _text(value: object) -> str:
    """As JSON, which escapes what TOML has to have escaped, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _syntax_fault(text: str, error: Exception) -> Fault:
    """The parser names the place in words; its "at end of document" becomes the line and column of the end."""
    if isinstance(error, RecursionError):
        return Fault("document", "nested too deeply")
    match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
    if match is None:  # a number that Python refuses to read for its length
        return Fault("document", str(error))
    lines = text.split("\n")
    message, line, column = match.groups()
    return Fault(f"line {line or len(lines)}, column {column or len(lines[-1]) + 1}", f"not TOML: {message}")
