"""The form of counters: what people fill in, and what they can choose from. Pure."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

from abacus.core.fields import Bad
from abacus.core.time_zones import UTC
from abacus.documents.form.types import (
    Choices,
    Either,
    Field,
    Fixed,
    Form,
    Group,
    Length,
    Option,
    Pick,
    Rows,
    Rule,
    Sort,
    Text,
    Whole,
)
from abacus.documents.form.values import plain_words
from abacus.documents.form.zones import ZONES, zone_options
from abacus.signals.counters.decide.definition import NAME_PATTERN, USUAL_NEW_KEYS, VARIABLE, Definition
from abacus.signals.counters.decide.definition_document import (
    MAX_DECIMALS,
    MAX_ID,
    MAX_NEW_KEYS,
    MAX_TYPES,
    USUAL_DECIMALS,
)
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.decide.template import COUNTRY_FIELD, MEMBER_FIELD, check_in_template
from abacus.signals.events.decide.vocabulary import EventType, Vocabulary
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.choices import event_sides, type_options, types_named

_ADDED: Final = (VariableType.INTEGER, VariableType.DECIMAL)


def _kept(name: str, usual: str) -> Field:
    """Of slots that a counter need not keep."""
    lengths: list[tuple[str, Sort]] = [("not kept", Fixed("0")), ("kept for", Length("hdy"))]
    return Field(name=name, sort=Either(lengths), label=name.capitalize(), usual=usual)


def _added(value: object, table: Mapping[str, Any]) -> str:
    if value == 1:
        return "1 for each event"
    return f"{value} with {table.get('decimals', USUAL_DECIMALS)} decimals"


COUNTER_FORM: Final = Form(
    [
        Field(
            name="name",
            sort=Text(pattern=NAME_PATTERN),
            label="Name",
            help="Small letters, digits and underscores; it never changes.",
            required=True,
            example="orders",
            begins="The counter",
            says="{}, number {id}",
        ),
        Field(
            name="id",
            sort=Whole(1, MAX_ID),
            label="Number",
            help="No other counter has ever had it.",
            required=True,
            example=1,
        ),
        Field(
            name="on",
            sort=Rows(Pick("events"), "type of event", MAX_TYPES),
            label="What is counted",
            required=True,
            example=["transactions/transaction.completed"],
            begins="counts",
            says=lambda value, _: " and ".join(map(plain_words, value)),
        ),
        Field(name="when", sort=Rule("timezone"), label="If", begins="if"),
        Field(
            name="add",
            sort=Either([("1", Fixed(1)), ("a variable", Pick("added"))]),
            label="What is added",
            usual="1 for each event",
            begins="adding",
            says=_added,
        ),
        Field(
            name="decimals",
            sort=Whole(0, MAX_DECIMALS),
            label="Decimals",
            help=f"Of a decimal variable; {USUAL_DECIMALS} if it is left empty.",
        ),
        Field(
            name="template",
            sort=Text(listed="templates"),
            label="Key",
            help="Fixed text, then fields in braces with colons between: one count for each list of their values.",
            required=True,
            example="orders:{member_id}",
            begins="under the key",
        ),
        Field(
            name="new_keys_per_day",
            sort=Whole(1, MAX_NEW_KEYS),
            label="New keys a day",
            help=f"Events of more keys are not counted; {USUAL_NEW_KEYS:,} if it is left empty.",
            begins="at most",
            says="{} new key(s) a day",
        ),
        Field(
            name="timezone",
            sort=Pick(ZONES),
            label="Time zone",
            help="Whose days and hours these are.",
            usual=UTC,
            begins="by the days of",
        ),
        Field(
            name="keep",
            sort=Group(
                [
                    _kept("minutes", "not kept"),
                    Field(
                        name="quarters",
                        sort=Length("hdy"),
                        label="Quarters of an hour",
                        help="Hours, days or years, such as 36h, 8d or 2y; 8d if it is left empty.",
                    ),
                    _kept("hours", "60 days"),
                    _kept("days", "2 years"),
                ]
            ),
            label="How long counts are kept",
            help="Never shorter than finer ones.",
            begins="kept",
            says=lambda value, _: ", ".join(
                f"{name} {'not at all' if each == '0' else f'for {each}'}" for name, each in dict(value).items()
            ),
        ),
    ],
    panels=[
        ("What it is", ["name", "id"]),
        ("What is counted", ["on", "when", "add", "decimals"]),
        ("Under which key", ["template", "new_keys_per_day"]),
        ("By which days, and how long", ["timezone", "keep"]),
    ],
)


def counter_choices(document: Mapping[str, Any], around: CounterPublications) -> Choices:
    """What is published now, for a draft that may have any faults."""
    sources = around.sources
    on = types_named(document.get("on"), sources)
    vocabulary, name = Vocabulary(on, sources), str(document.get("name") or "name")
    shared = vocabulary.any() if on else {}
    added = [f"{VARIABLE}{each}" for each, type_ in sorted(shared.items()) if type_ in _ADDED]
    templates = [f"{name}:{{{each}}}" for each in _fields(on, vocabulary)]
    return Choices(
        lists={
            "events": type_options(sources),
            "added": [Option(each, each) for each in added],
            "templates": [Option(each, each) for each in templates],
            ZONES: zone_options(),
        },
        sides=event_sides(on, *around),
    )


def beside_others(document: Mapping[str, Any], published: Sequence[Definition]) -> Mapping[str, Any]:
    """A draft that is begun, or copied: with a number, a name and keys that no published counter has."""
    numbers, names = {each.id for each in published}, {each.name for each in published}
    number = document["id"] if document["id"] not in numbers else next(each for each in count(1) if each not in numbers)
    if document["name"] not in names:
        return {**document, "id": number}
    name = f"{document['name']}_{number}"
    return {**document, "id": number, "name": name, "template": f"{name}:{document['template']}"}


def _fields(on: Sequence[EventType], vocabulary: Vocabulary) -> list[str]:
    """The fields that a key of these events may have."""
    found = []
    for name in (MEMBER_FIELD, COUNTRY_FIELD, *sorted(vocabulary.any())) if on else ():
        try:
            check_in_template(name, vocabulary)
        except Bad:
            continue
        found.append(name)
    return found
