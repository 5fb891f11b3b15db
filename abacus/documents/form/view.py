"""A document in the form of its kind, whatever faults it has: what is no such field is not shown, and stays. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from abacus.documents.form.conditions import RuleView
from abacus.documents.form.parts import Act, Control, Listing, Panel, Part, Role, Shown, Spot, name_of
from abacus.documents.form.path import Path, found, written
from abacus.documents.form.types import (
    Amount,
    Choice,
    Choices,
    Clock,
    Constant,
    Day,
    Either,
    Entries,
    Field,
    Fixed,
    Flag,
    Form,
    Group,
    Hours,
    Length,
    Moment,
    OneOf,
    Option,
    Pick,
    Rows,
    Rule,
    Several,
    Sort,
    Table,
    Text,
    Titled,
    Whole,
)
from abacus.documents.form.values import of_either, shown, split_hours, split_title, zone_of

_MOST_OPTIONS: Final = 100  # of a list to choose from; of a longer one a name is typed
_YES_NO: Final = (Option("true", "yes"), Option("false", "no"))
_INPUTS: Final[Mapping[type[Any], str]] = {
    Moment: "datetime-local",
    Day: "date",
    Clock: "time",
    Whole: "number",
    Amount: "decimal",
}
_SHAPES: Final = {
    "datetime-local": re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?"),
    "date": re.compile(r"\d{4}-\d{2}-\d{2}"),
    "time": re.compile(r"\d{2}:\d{2}"),
}
_LENGTHS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "y": "years"}


def view(form: Form, document: Table, choices: Choices) -> Shown:
    """The whole form of a document."""
    return _View(form, document, choices).shown()


class _View:
    """One document while it is being shown."""

    def __init__(self, form: Form, document: Table, choices: Choices) -> None:
        self._form = form
        self._document = document
        self._choices = choices
        self._spots: list[Spot] = []
        self._optional: list[Path] = []
        self._lists: dict[str, Sequence[str]] = {}

    def shown(self) -> Shown:
        panels = []
        for title, names in self._form.panels or [("", ())]:
            fields = [each for each in self._form.fields if not names or each.name in names]
            panels.append(Panel(path="", label=title, parts=list(self._fields(fields, self._document, ()))))
        return Shown(panels, self._spots, sorted(self._optional, key=len, reverse=True), self._lists)

    def _fields(self, fields: Sequence[Field | OneOf], table: Any, path: Path) -> Iterator[Part]:
        known = table if isinstance(table, Mapping) else {}
        for each in fields:
            if isinstance(each, OneOf):
                yield from self._one_of(each, known, path)
            else:
                yield from self._field(each, known, path)

    def _one_of(self, choice: OneOf, table: Table, path: Path) -> Iterator[Part]:
        taken = choice.branch(table)
        options = [Option(str(place), each.label) for place, each in enumerate(choice.branches)]
        fixed = [each.name for each in choice.branches[taken].fields if isinstance(each.sort, Fixed)]
        control = Control(
            name=name_of(path, choice.name),
            path=written((*path, *fixed[:1])),
            label=choice.label,
            value=str(taken),
            input="select",
            options=options,
            help=choice.help,
            updates=True,
        )
        self._spots.append(Spot(Role.BRANCH, path, choice, [control]))
        yield control
        fields = choice.branches[taken].fields
        for each in fields:
            yield from self._field(each, table, path, keeps=len(fields) == 1)

    def _field(self, each: Field, table: Table, path: Path, *, keeps: bool = False) -> Iterator[Part]:
        here, value = (*path, each.name), table.get(each.name)
        if not each.required and not keeps and isinstance(each.sort, Group | Rows | Entries | Several | Rule):
            self._optional.append(here)
        if not isinstance(each.sort, Fixed):
            yield from self._part(each.sort, here, value, each, keeps=keeps)

    def _part(self, sort: Sort, path: Path, value: Any, of: Field, *, keeps: bool = False) -> Iterator[Part]:
        match sort:
            case Group(fields):
                parts = list(self._fields(fields, value, path))
                yield Panel(path=written(path), label=of.label, parts=parts, help=of.help)
            case Rows():
                yield self._rows(sort, path, value, of)
            case Entries():
                yield self._entries(sort, path, value, of)
            case Either():
                yield from self._either(sort, path, value, of, keeps=keeps)
            case Rule(zone):
                rules = RuleView(self._choices, self._spots, zone_of(self._document, zone))
                yield rules.listing(path, value, of.label, of.help)
            case Titled():
                yield from self._titled(path, value, of)
            case Hours():
                yield from self._hours(path, value, of)
            case _:
                yield self._scalar(sort, path, value, of, keeps=keeps)

    def _scalar(self, sort: Any, path: Path, value: Any, of: Field, *, keeps: bool) -> Control:
        zone = zone_of(self._document, sort.zone) if isinstance(sort, Moment) else "UTC"
        text, help_ = shown(sort, value, zone), of.help
        options = self._options(sort, text, of)
        input_ = _INPUTS.get(type(sort), "text") if options is None else "select"
        if input_ in _SHAPES and text and not _SHAPES[input_].fullmatch(text):
            input_ = "text"  # a browser shows nothing of what does not fit
        if isinstance(sort, Several):
            input_ = "checks"
        elif isinstance(sort, Text) and sort.lines > 1:
            input_ = "textarea"
        if isinstance(sort, Length) and not help_:
            help_ = f"A number of {', '.join(_LENGTHS[each] for each in sort.units)}: 2{sort.units[-1]}."
        if isinstance(sort, Moment):
            help_ = f"{help_} By the clock of {zone}.".strip()
        examples = self._choices.of(sort.listed) if isinstance(sort, Text) and sort.listed is not None else ()
        control = Control(
            name=name_of(path) + ("[]" if isinstance(sort, Several) else ""),
            path=written(path),
            label=of.label,
            value=text,
            input=input_,
            options=options or (),
            examples=[each.value for each in examples],
            help=help_,
            required=of.required,
            lines=sort.lines if isinstance(sort, Text) else 1,
            listed=sort.listed if isinstance(sort, Pick) and options is None else "",
        )
        self._spots.append(Spot(Role.VALUE, path, sort, [control], keeps, self._type_of(sort, path)))
        return control

    def _options(self, sort: Sort, text: str, of: Field) -> list[Option] | None:
        """None for what is typed. What stands there is an option, also where it is none of those that there are."""
        match sort:
            case Several(choice):
                return list(choice.options)
            case Choice(options):
                options = list(options)
            case Pick(listed) if len(self._choices.of(listed)) > _MOST_OPTIONS:
                self._lists[listed] = [each.value for each in self._choices.of(listed)]
                return None
            case Pick(listed):
                options = list(self._choices.of(listed))
            case Flag():
                options = list(_YES_NO)
            case _:
                return None
        known = {each.value for each in options}
        if text and text not in known:
            options = [Option(text, text), *options]
        if not text or not of.required:
            options = [Option("", of.usual or ("choose" if of.required else "–")), *options]
        return options

    def _type_of(self, sort: Sort, path: Path) -> str:
        """The type of the variable that a constant is for."""
        if not isinstance(sort, Constant):
            return ""
        event = found(self._document, (*path[:-2], sort.by))
        return self._choices.variables.get(str(event), {}).get(str(path[-1]), "text")

    def _titled(self, path: Path, value: Any, of: Field) -> Iterator[Control]:
        title, body = split_title(value if isinstance(value, str) else "")
        at = written(path)
        controls = [
            Control(name=name_of(path, "title"), path=at, label="Title", value=title, required=True),
            Control(
                name=name_of(path, "body"), path=at, label="Text", value=body, input="textarea", lines=3, help=of.help
            ),
        ]
        self._spots.append(Spot(Role.TITLED, path, Titled(), controls, keeps=True))
        yield from controls

    def _hours(self, path: Path, value: Any, of: Field) -> Iterator[Control]:
        begin, end = split_hours(value if isinstance(value, str) else "")
        at = written(path)
        controls = [
            Control(name=name_of(path, "from"), path=at, label="From", value=begin),
            Control(name=name_of(path, "to"), path=at, label="To", value=end, help=of.help),
        ]
        self._spots.append(Spot(Role.HOURS, path, Hours(), controls, keeps=True))
        yield from controls

    def _either(self, either: Either, path: Path, value: Any, of: Field, *, keeps: bool) -> Iterator[Part]:
        place = of_either(either, value)
        options = [Option(str(at), words) for at, (words, _) in enumerate(either.sorts)]
        if place is None or not of.required:
            options = [Option("", of.usual or "–"), *options]
        control = Control(
            name=name_of(path, "either"),
            path=written(path),
            label=of.label,
            value="" if place is None else str(place),
            input="select",
            options=options,
            help=of.help,
            updates=True,
        )
        self._spots.append(Spot(Role.EITHER, path, either, [control], keeps))
        yield control
        if place is not None:
            words, sort = either.sorts[place]
            if not isinstance(sort, Fixed):
                inner = Field(
                    name=of.name, sort=sort, label=words[:1].upper() + words[1:], required=True, example=of.example
                )
                yield from self._part(sort, path, value, inner, keeps=True)

    def _rows(self, rows: Rows, path: Path, value: Any, of: Field) -> Listing:
        values, at = value if isinstance(value, list | tuple) else (), written(path)
        panels = []
        for place, each in enumerate(values):
            here = (*path, place)
            one = Field(name="", sort=rows.of, label=f"{rows.noun.capitalize()} {place + 1}", required=True)
            if isinstance(rows.of, Group):
                parts: Sequence[Part] = list(self._fields(rows.of.fields, each, here))
            else:
                parts = list(self._part(rows.of, here, each, one, keeps=True))
            acts = _row_acts(here, len(values), one.label)
            panels.append(Panel(path=written(here), label=one.label, parts=parts, acts=acts))
        adds = [_add(at, rows.noun, of)] if len(values) < rows.at_most else []
        return Listing(path=at, label=of.label, rows=panels, acts=adds, help=of.help, empty=of.usual)

    def _entries(self, entries: Entries, path: Path, value: Any, of: Field) -> Listing:
        table, at = value if isinstance(value, Mapping) else {}, written(path)
        panels, noun = [], entries.noun
        there = [Option(each, each) for each in map(str, table)]
        for key, each in table.items():
            here = (*path, str(key))
            one = Field(name="", sort=entries.of, label=str(key), required=True)
            if isinstance(entries.of, Group):
                parts: list[Part] = list(self._fields(entries.of.fields, each, here))
            else:
                parts = list(self._part(entries.of, here, each, one))
            acts = [Act(f"remove:{written(here)}", "Remove", f"Remove {key}")]
            panels.append(Panel(path=written(here), label=str(key), parts=parts, acts=acts))
        picks = None
        if isinstance(entries.key, Pick):
            left = [
                each for each in self._choices.of(entries.key.listed) if each.value not in {one.value for one in there}
            ]
            picks = [Option("", "choose"), *left]
        new = Control(
            name=name_of(path, "new"),
            path=at,
            label=f"Another {noun}",
            input="text" if picks is None else "select",
            options=picks or (),
        )
        controls = [new]
        if isinstance(entries.of, Amount | Whole | Text | Constant):
            controls.append(Control(name=name_of(path, "value"), path=at, label="Its value"))
        self._spots.append(Spot(Role.NEW, path, entries, controls))
        adds = [_add(at, noun, of)]
        return Listing(
            path=at,
            label=of.label,
            rows=panels,
            new=controls,
            acts=adds,
            help=of.help,
            empty=of.usual,
            folded=entries.folded,
        )


def _row_acts(path: Path, count: int, label: str) -> list[Act]:
    at, place = written(path), path[-1]
    acts = [Act(f"up:{at}", "Up", f"Move {label} up")] if place else []
    acts += [Act(f"down:{at}", "Down", f"Move {label} down")] if place != count - 1 else []
    return [*acts, Act(f"remove:{at}", "Remove", f"Remove {label}")]


def _add(at: str, noun: str, of: Field) -> Act:
    label = f"Add {_article(noun)}"
    return Act(f"add:{at}", label, f"{label} to {of.label}" if of.label else label)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
