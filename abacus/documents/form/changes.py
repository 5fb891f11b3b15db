"""What is different between two documents, from → to, by the labels of their fields. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from abacus.documents.form.sentences import said
from abacus.documents.form.types import (
    NO_CHOICES,
    Choices,
    Either,
    Entries,
    Field,
    Fixed,
    Form,
    Group,
    Moment,
    OneOf,
    Rows,
    Sort,
    Table,
    flat,
    held,
)
from abacus.documents.form.values import fits, plain_words, shown

_NOTHING: Final = "nothing"


@dataclass(frozen=True)
class Change:
    """One field that says something else. `was` or `now` is None where the field is not there."""

    where: str
    was: str | None
    now: str | None

    def __str__(self) -> str:
        return f"{self.where}: {self.was or _NOTHING} → {self.now or _NOTHING}"


def changes(form: Form, before: Table, after: Table, choices: Choices = NO_CHOICES) -> list[Change]:
    """In the order of the form; what it does not know comes last, by its name."""
    return list(_of_table(form.fields, before, after, "", choices))


def _of_table(
    fields: Sequence[Field | OneOf], before: Any, after: Any, where: str, choices: Choices
) -> Iterator[Change]:
    was, now = (each if isinstance(each, Mapping) else {} for each in (before, after))
    # Of a name that several ways have, the field of the way that is taken.
    known = {each.name: each for each in (*flat(fields), *held(fields, was), *held(fields, now))}
    for field in known.values():
        yield from _of_value(field.sort, was.get(field.name), now.get(field.name), _below(where, field.label), choices)
    for name in [each for each in {**was, **now} if each not in known]:
        if was.get(name) != now.get(name):
            yield Change(_below(where, str(name)), _plain(was.get(name)), _plain(now.get(name)))


def _of_value(sort: Sort, before: Any, after: Any, where: str, choices: Choices) -> Iterator[Change]:
    if before == after or (isinstance(sort, Moment) and shown(sort, before) == shown(sort, after)):
        return
    match sort:
        case Group(fields):
            yield from _of_table(fields, before, after, where, choices)
        case Rows(of=of, noun=noun) if isinstance(of, Group):
            for row, was, now in _rows(_list(before), _list(after)):
                yield from _of_table(of.fields, was, now, _below(where, f"{noun} {row}"), choices)
        case Entries(of=of):
            old, new = (each if isinstance(each, Mapping) else {} for each in (before, after))
            for key in {**old, **new}:
                yield from _of_value(of, old.get(key), new.get(key), _below(where, str(key)), choices)
        case Either(sorts):
            one = next(
                (each for _, each in sorts if fits(each, after) and (before is None or fits(each, before))), None
            )
            if one is not None:
                yield from _of_value(one, before, after, where, choices)
            else:
                yield Change(where, _told(sort, before, choices), _told(sort, after, choices))
        case Fixed():
            yield Change(where, _plain(before), _plain(after))
        case _:
            yield Change(where, _told(sort, before, choices), _told(sort, after, choices))


def _rows(was: list[Any], now: list[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Rows that are the same at the beginning and at the end belong together; those between follow their order."""
    first = 0
    while first < min(len(was), len(now)) and was[first] == now[first]:
        first += 1
    last = 0
    while last < min(len(was), len(now)) - first and was[-1 - last] == now[-1 - last]:
        last += 1
    between = zip_longest(was[first : len(was) - last], now[first : len(now) - last])
    for row, (before, after) in enumerate(between, start=first + 1):
        yield row, before, after


def _told(sort: Sort, value: Any, choices: Choices) -> str | None:
    return None if value is None else said(sort, value, choices)


def _plain(value: Any) -> str | None:
    return None if value is None else plain_words(value)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _below(where: str, label: str) -> str:
    return f"{where} · {label}" if where else label
