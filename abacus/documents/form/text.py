"""A document's text after some steps: comments and order stay, but where what they belong to goes. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array, InlineTable
from tomlkit.items import Table as Headed

from abacus.core.document_text import read_toml, write_toml
from abacus.core.fields import DocumentFaults
from abacus.documents.form.steps import Move, Put, Step, Take, applied
from abacus.documents.form.types import Table

_LONG: Final = 60  # characters of an array of tables that stands on one line


def changed_text(text: str, steps: Sequence[Step], write: Callable[[Table], str] = write_toml) -> str:
    """The text with the steps applied. It always says what `applied` says of its document: where the text cannot be
    changed so, such as a table whose parts stand apart, `write` writes it anew. Raises `DocumentFaults` for text that
    is not TOML.
    """
    if not steps:
        return text
    wanted = applied(read_toml(text), steps)
    try:
        document = tomlkit.parse(text)
        for step in steps:
            _apply(document, step)
        after = tomlkit.dumps(document)
        if read_toml(after) == wanted:
            return after
    except (TOMLKitError, DocumentFaults, LookupError, TypeError, ValueError, AttributeError):
        pass
    return write(wanted)


def _apply(document: Any, step: Step) -> None:
    *parents, last = step.path
    at: Any = document
    for part in parents:
        if isinstance(part, str) and part not in at:
            at[part] = tomlkit.inline_table() if isinstance(at, InlineTable) else tomlkit.table()
        at = at[part]
    match step:
        case Put(value=value):
            _put(at, last, value)
        case Take():
            if isinstance(last, int) or last in at:
                del at[last]
        case Move(to=to):
            moved = at[last]
            del at[last]
            at.insert(to, moved)


def _put(at: Any, last: Any, value: Any) -> None:
    if isinstance(at, AoT):
        item = _headed(value)
        if last >= len(at):
            at.append(item)
        else:
            at[last] = item
    elif isinstance(at, Array):
        if last >= len(at):
            at.append(_inline(value))
        else:
            at[last] = _inline(value)
    elif isinstance(value, Mapping) and last in at and isinstance(at[last], Headed):
        _become(at[last], value)
    else:
        is_headed = isinstance(at, Headed | tomlkit.TOMLDocument)
        at[last] = _item(value) if is_headed and last not in at else _inline(value)


def _become(table: Headed, value: Mapping[str, Any]) -> None:
    """The table says this; the comments that stand in it stay."""
    for name in [each for each in table if each not in value]:
        del table[name]
    for name, each in value.items():
        if name not in table or table[name] != each:
            table[name] = _inline(each)


def _item(value: Any) -> Any:
    """In a table with a heading: arrays of tables have headings too, and tables of tables."""
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        several = tomlkit.aot()
        for each in value:
            several.append(_headed(each))
        return several
    if isinstance(value, Mapping):
        return _headed(value)
    return _inline(value)


def _headed(value: Mapping[str, Any]) -> Any:
    table = tomlkit.table()
    for name, each in value.items():
        table[name] = _item(each) if isinstance(each, list) else _inline(each)
    return table


def _inline(value: Any) -> Any:
    if isinstance(value, Mapping):
        inline = tomlkit.inline_table()
        for name, each in value.items():
            inline[name] = _inline(each)
        return inline
    if isinstance(value, list | tuple):
        array = tomlkit.array()
        for each in value:
            array.append(_inline(each))
        is_long = len(array.as_string()) > _LONG and any(isinstance(each, Mapping) for each in value)
        return array.multiline(multiline=True) if is_long else array
    return value
