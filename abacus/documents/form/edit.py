"""What a typed form and the button that was pressed change in a document. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from abacus.documents.form.conditions import GROUPS, condition_of, inner, is_group
from abacus.documents.form.parts import Role, Shown, Spot
from abacus.documents.form.path import Path, found, read
from abacus.documents.form.steps import Move, Put, Step, Take, applied
from abacus.documents.form.types import (
    Choices,
    Constant,
    Either,
    Entries,
    Fixed,
    Form,
    Group,
    Moment,
    OneOf,
    Rows,
    Rule,
    Sort,
    Table,
    Text,
    all_of,
    flat,
)
from abacus.documents.form.values import COPIED, blank, constant, joined_title, shown, typed, zone_of
from abacus.documents.form.view import view


class Edit:
    """One document, as it was shown, and what was typed into its form."""

    def __init__(self, form: Form, document: Table, choices: Choices) -> None:
        self._form = form
        self._document = document
        self._choices = choices
        self._shown: Shown = view(form, document, choices)

    def steps(self, fields: Mapping[str, str], act: str = "") -> list[Step]:
        """What the fields change that were typed otherwise than they were shown, and then what the act changes. An act
        that no button has changes nothing.
        """
        sent = {name: text.replace("\r\n", "\n") for name, text in fields.items()}
        steps = [step for spot in self._shown.spots for step in self._typed(spot, sent)]
        steps = [each for each in steps if not _is_overtaken(each, steps)]
        after = applied(self._document, steps)
        if act in self._shown.acts():
            more = list(self._acted(act, after))
            steps, after = [*steps, *more], applied(after, more)
        return [*steps, *self._emptied(after)]

    def _typed(self, spot: Spot, sent: Mapping[str, str]) -> Iterator[Step]:
        """The steps of one spot; none where its controls are as they were shown."""
        texts = {each.name.rpartition("/")[2]: sent.get(each.name, each.value) for each in spot.controls}
        if not self._is_changed(spot, sent):
            return
        first = sent.get(spot.controls[0].name, spot.controls[0].value)
        path, before = spot.path, found(self._document, spot.path)
        match spot.role:
            case Role.VALUE:
                yield from self._valued(spot, first, sent)
            case Role.TITLED:
                yield Put(path, joined_title(texts["title"].strip(), texts["body"].rstrip()))
            case Role.HOURS:
                yield Put(path, f"{texts['from'].strip()}-{texts['to'].strip()}")
            case Role.BRANCH:
                yield from _on_way(spot.of, path, first, before)
            case Role.EITHER:
                yield from _of_sort(spot.of, path, first)
            case Role.NEW if first.strip():
                value = texts.get("value", "").strip()
                yield Put((*path, first.strip()), typed(spot.of.of, value) if value else blank(spot.of.of))
            case Role.TURN:
                yield from _turned(path, before, first)
            case Role.CONDITION:
                now = condition_of(before if isinstance(before, Mapping) else {}, spot, texts, self._choices)
                yield from _differences(path, before, now)

    def _is_changed(self, spot: Spot, sent: Mapping[str, str]) -> bool:
        if any(sent.get(each.name, each.value) != each.value for each in spot.controls):
            return True
        sort = spot.of
        return (
            isinstance(sort, Moment) and spot.controls[0].value != "" and self._zone(sort, sent) != self._zone(sort, {})
        )

    def _zone(self, sort: Moment, sent: Mapping[str, str]) -> str:
        """By which a moment is read: that of the document, or another one that was just typed."""
        chosen = sent.get(f"doc.{sort.zone}")
        return zone_of(self._document if chosen is None else {str(sort.zone): chosen.strip()}, sort.zone)

    def _valued(self, spot: Spot, text: str, sent: Mapping[str, str]) -> Iterator[Step]:
        sort: Sort = spot.of
        if not (isinstance(sort, Text) and sort.lines > 1):
            text = text.strip()
        if not text and not spot.keeps:
            yield Take(spot.path)
        elif isinstance(sort, Constant):
            yield Put(spot.path, text if text.startswith(COPIED) else constant(spot.type, text))
        else:
            zone = self._zone(sort, sent) if isinstance(sort, Moment) else "UTC"
            yield Put(spot.path, typed(sort, text, zone) if text else "")

    def _acted(self, act: str, document: Table) -> Iterator[Step]:
        name, _, at = act.partition(":")
        path = read(at)
        if not path:
            return
        match name:
            case "add":
                yield from self._added(path, found(document, path))
            case "remove":
                yield from _removed(document, path)
            case "up" | "down" if isinstance(path[-1], int):
                yield Move(path, path[-1] + (1 if name == "down" else -1))
            case "nest":
                yield Put(path, {"operator": "and", "conditions": [found(document, path)]})

    def _added(self, path: Path, there: Any) -> Iterator[Step]:
        """One more row, entry or condition."""
        match sort_at(self._form, path):
            case Rows(of):
                if isinstance(there, list | tuple):
                    yield Put((*path, len(there)), blank(of))
                else:
                    yield Put(path, [blank(of)])
            case Rule():
                yield from _one_more(path, there)

    def _emptied(self, after: Table) -> Iterator[Step]:
        """Tables and arrays that nothing stands in any more, the inner ones first."""
        gone: list[Step] = []
        for path in self._shown.optional:
            left = found(applied(after, gone), path)
            if isinstance(left, Mapping | list | tuple) and not left:
                gone.append(Take(path))
        yield from gone


def sort_at(form: Form, path: Path) -> Sort | None:
    """What the form says of a path, within a rule too; None where it knows none."""
    sort: Sort = form.group
    for part in path:
        if isinstance(sort, Either):
            wanted: type[Any] = Rows if isinstance(part, int) else Group
            sort = next((each for _, each in sort.sorts if isinstance(each, wanted)), sort)
        match sort, part:
            case Rule(), _:
                return sort
            case Group(fields), str():
                field = next((each for each in flat(fields) if each.name == part), None)
                if field is None:
                    return None
                sort = field.sort
            case Rows(of), int():
                sort = of
            case Entries(of=of), str():
                sort = of
            case _:
                return None
    return next((each for _, each in sort.sorts if isinstance(each, Rows)), sort) if isinstance(sort, Either) else sort


def _is_overtaken(step: Step, steps: Sequence[Step]) -> bool:
    """Whether another step takes away, or puts in place anew, what this one changes."""

    def holds(other: Step) -> bool:
        held = isinstance(other, Take | Put) and step.path[: len(other.path)] == other.path
        return held and (len(other.path) < len(step.path) or (isinstance(other, Take) and isinstance(step, Put)))

    return any(holds(each) for each in steps)


def _on_way(choice: OneOf, path: Path, chosen: str, before: Any) -> Iterator[Step]:
    """The fields of another way, and none of those before."""
    if not chosen.isdecimal() or int(chosen) >= len(choice.branches):
        return
    table = before if isinstance(before, Mapping) else {}
    way = choice.branches[int(chosen)].fields
    names = {each.name for each in way}
    yield from (Take((*path, each.name)) for each in all_of(choice) if each.name in table and each.name not in names)
    for each in way:
        if isinstance(each.sort, Fixed) or (each.name not in table and (each.required or len(way) == 1)):
            yield Put((*path, each.name), blank(each.sort))


def _of_sort(either: Either, path: Path, chosen: str) -> Iterator[Step]:
    if not chosen:
        yield Take(path)
    elif chosen.isdecimal() and int(chosen) < len(either.sorts):
        yield Put(path, blank(either.sorts[int(chosen)][1]))


def _turned(path: Path, group: Any, operator: str) -> Iterator[Step]:
    """A group that asks for all, for one, or for none of its conditions."""
    if operator not in GROUPS or not is_group(group):
        return
    conditions = inner(group)
    if operator == "not":
        one = conditions[0] if len(conditions) == 1 else {"operator": "and", "conditions": conditions}
        yield Put(path, {"operator": "not", "conditions": [one]})
    elif group["operator"] == "not":
        (only,) = conditions or [None]
        yield Put(path, {"operator": operator, "conditions": inner(only) if is_group(only) else conditions})
    else:
        yield Put((*path, "operator"), operator)


def _one_more(path: Path, rule: Any) -> Iterator[Step]:
    condition = blank(Rule())
    if not isinstance(rule, Mapping) or not rule:
        yield Put(path, condition)
    elif not is_group(rule):
        yield Put(path, {"operator": "and", "conditions": [dict(rule), condition]})
    elif rule["operator"] == "not" and inner(rule):
        yield from _one_more((*path, "conditions", 0), inner(rule)[0])
    else:
        yield Put((*path, "conditions", len(inner(rule))), condition)


def _removed(document: Table, path: Path) -> Iterator[Step]:
    """With a condition goes the group that it leaves empty."""
    while len(path) > 2 and path[-2] == "conditions" and len(inner(found(document, path[:-2]))) == 1:  # noqa: PLR2004  # a group, its array, a place
        path = path[:-2]
    yield Take(path)


def _differences(path: Path, before: Any, now: Mapping[str, Any]) -> Iterator[Step]:
    """What is different in a condition; what both say keeps its place and its comment."""
    table = before if isinstance(before, Mapping) else {}
    yield from (Take((*path, name)) for name in table if name not in now)
    for name, value in now.items():
        if (
            name not in table
            or shown(Rule(), table[name]) != shown(Rule(), value)
            or type(table[name]) is not type(value)
        ):
            yield Put((*path, name), value)
