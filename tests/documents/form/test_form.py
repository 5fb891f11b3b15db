"""One declaration of fields, and everything that follows from it: the form, its edits, the text, faults and words."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from abacus.core.document_text import read_toml
from abacus.core.fields import Fault
from abacus.documents.form.changes import changes
from abacus.documents.form.edit import Edit
from abacus.documents.form.example import example
from abacus.documents.form.faults import FILL_IN, placed, to_mend
from abacus.documents.form.path import read, written
from abacus.documents.form.schema import schema
from abacus.documents.form.sentences import sentences
from abacus.documents.form.steps import applied, changed_elsewhere
from abacus.documents.form.text import changed_text
from abacus.documents.form.types import (
    Amount,
    Branch,
    Choices,
    Either,
    Entries,
    Field,
    Fixed,
    Form,
    Group,
    Length,
    Moment,
    OneOf,
    Option,
    Pick,
    Rows,
    Rule,
    Side,
    Text,
    Titled,
    Whole,
)
from abacus.documents.form.view import view

FORM: Final = Form(
    [
        Field(name="name", sort=Text(), label="Name", required=True, example="trip"),
        Field(name="zone", sort=Text(), label="Zone", example="Asia/Singapore"),
        Field(name="from", sort=Moment("zone"), label="From", example="2026-01-01T08:00:00+08:00"),
        Field(name="when", sort=Rule(), label="If", begins="if"),
        Field(
            name="stops",
            sort=Rows(
                Group(
                    [
                        OneOf(
                            "how",
                            "How",
                            [
                                Branch(
                                    "by train", [Field(name="train", sort=Whole(1, 99), label="Train", says="train {}")]
                                ),
                                Branch("by boat", [Field(name="boat", sort=Text(), label="Boat", says="the boat {}")]),
                                Branch("on foot", says="on foot"),
                            ],
                        ),
                        Field(name="after", sort=Length(), label="After", says="{} later"),
                    ]
                ),
                "stop",
                3,
            ),
            label="Stops",
            required=True,
            example=[{"train": 7}],
            begins="then",
        ),
        Field(name="fares", sort=Entries(Text(), Amount(), "fare"), label="Fares", begins="fares"),
        Field(name="words", sort=Entries(Pick("languages"), Titled(), "language"), label="Words"),
        OneOf(
            "what",
            "What it is",
            [
                Branch(
                    "private",
                    [
                        Field(name="kind", sort=Fixed("private"), label="Kind", required=True),
                        Field(name="host", sort=Text(), label="Host", required=True, example="ann"),
                    ],
                ),
                Branch(
                    "guided",
                    [
                        Field(name="kind", sort=Fixed("guided"), label="Kind", required=True),
                        Field(name="host", sort=Pick("guides"), label="Guide", required=True),
                        Field(name="groups", sort=Whole(1), label="Groups"),
                    ],
                ),
            ],
        ),
        Field(name="over", sort=Either([("a number", Whole()), ("a length", Length())]), label="Over"),
        Field(
            name="most",
            sort=Group([Field(name="trips", sort=Whole(1), label="Trips", begins="at most", says="{} trip(s)")]),
            label="Most",
        ),
    ]
)
CHOICES: Final = Choices(
    lists={"languages": [Option("en", "English"), Option("id", "Indonesian")]},
    sides={
        "var.km": Side("var.km", "km", "integer", ("eq", "gte", "between", "in", "exists")),
        "var.city": Side("var.city", "city", "text", ("eq", "in")),
        "count.rides(7d)": Side("count.rides(7d)", "rides", "integer", ("gte",), argument="7d"),
    },
)
TEXT: Final = """# a trip of ours
name = "trip"  # never changes
zone = "Asia/Singapore"
from = 2026-01-01T08:00:00+08:00
kind = "guided"
host = "bea"
groups = 2

# only far ones
[when]
operator = "gte"
lhs = "var.km"
rhs = 10

# the first stop
[[stops]]
train = 7

# the second stop
[[stops]]
boat = "Ana"

[fares]
child = "1.50" # half
"""


def edited(text: str, act: str = "", **typed: str) -> str:
    document = read_toml(text)
    steps = Edit(FORM, document, CHOICES).steps({f"doc.{name}": value for name, value in typed.items()}, act)
    after = changed_text(text, steps)
    assert read_toml(after) == applied(document, steps)
    return after


def test_what_is_sent_as_it_was_shown_changes_nothing() -> None:
    document = read_toml(TEXT)
    sent = {each.name: each.value for each in view(FORM, document, CHOICES).controls()}
    assert Edit(FORM, document, CHOICES).steps(sent) == []


@pytest.mark.parametrize(
    ("typed", "path", "value"),
    [
        ({"name": "tour"}, "name", "tour"),
        ({"zone": ""}, "zone", None),
        ({"stops[0].train": "8"}, "stops[0].train", 8),
        ({"stops[0].train": "many"}, "stops[0].train", "many"),
        ({"stops[0]/how": "2"}, "stops[0]", {}),
        ({"stops[0]/how": "1"}, "stops[0]", {"boat": ""}),
        ({"stops[1]/how": "0", "stops[1].boat": "Bea"}, "stops[1]", {"train": ""}),
        ({"fares.child": ""}, "fares", None),
        ({"fares/new": "adult"}, "fares", {"child": "1.50", "adult": ""}),
        ({"fares/new": "adult", "fares/value": "3"}, "fares.adult", "3"),
        ({"words/new": "en"}, "words", {"en": ""}),
        ({"/what": "0"}, "kind", "private"),
        ({"/what": "0"}, "host", "bea"),
        ({"/what": "0"}, "groups", None),
        ({"over/either": "1"}, "over", ""),
        ({"over/either": "0"}, "over", ""),
        ({"most.trips": "4"}, "most", {"trips": 4}),
        ({"when/lhs": "var.city"}, "when", {"operator": "eq", "lhs": "var.city", "rhs": "10"}),
        ({"when/operator": "between"}, "when.rhs", [10, ""]),
        ({"when/operator": "in"}, "when.rhs", [10]),
        ({"when/operator": "exists"}, "when", {"operator": "exists", "lhs": "var.km"}),
        ({"when/lhs": "count.rides"}, "when.lhs", "count.rides(7d)"),
    ],
)
def test_a_field_changes_what_it_shows(typed: Mapping[str, str], path: str, value: object) -> None:
    after: Any = read_toml(edited(TEXT, **typed))
    for part in read(path) or ():
        after = after.get(part) if isinstance(part, str) else after[part]
    assert after == value


def test_a_moment_is_that_of_the_clock_of_its_zone() -> None:
    moved = read_toml(edited(TEXT, **{"from": "2026-01-02T09:30"}))["from"]
    assert str(moved) == "2026-01-02 09:30:00+08:00"
    elsewhere = read_toml(edited(TEXT, zone="Asia/Tokyo"))["from"]
    assert str(elsewhere) == "2026-01-01 08:00:00+09:00"


@pytest.mark.parametrize(
    ("act", "path", "value"),
    [
        ("add:stops", "stops[2]", {}),
        ("remove:stops[0]", "stops[0]", {"boat": "Ana"}),
        ("down:stops[0]", "stops[1]", {"train": 7}),
        ("up:stops[1]", "stops[0]", {"boat": "Ana"}),
        ("up:stops[0]", "stops[0]", {"train": 7}),
        ("remove:fares.child", "fares", None),
        ("remove:when", "when", None),
        ("remove:name", "name", "trip"),
        ("add:when", "when.conditions[1]", {"operator": "eq", "lhs": ""}),
        ("nest:when", "when.conditions[0]", {"operator": "gte", "lhs": "var.km", "rhs": 10}),
    ],
)
def test_a_button_changes_the_document_if_the_form_has_it(act: str, path: str, value: object) -> None:
    after: Any = read_toml(edited(TEXT, act))
    for part in read(path) or ():
        after = after.get(part) if isinstance(part, str) else after[part]
    assert after == value


def said(part: Any) -> Iterator[str]:
    """All that the buttons of a part say to who does not see where they stand."""
    if part.kind != "control":
        yield from (act.says for act in part.acts)
        for each in part.rows if part.kind == "listing" else part.parts:
            yield from said(each)


def test_each_button_says_what_it_is_about() -> None:
    form = Form(
        [
            Field(name="steps", sort=Rows(Text(), "step"), label="Steps"),
            Field(name="prices", sort=Entries(Text(), Amount(), "price"), label="Prices"),
            Field(name="when", sort=Rule(), label="If"),
            Field(name="unless", sort=Rule(), label="Unless"),
        ]
    )
    one = {"operator": "eq", "lhs": "var.city", "rhs": "x"}
    when = {"operator": "and", "conditions": [one, {"operator": "or", "conditions": [one]}]}
    document = {"steps": ["a", "b"], "prices": {"tea": "1"}, "when": when, "unless": one}
    assert [each for panel in view(form, document, Choices()).parts for each in said(panel)] == [
        "Add a step to Steps",
        "Move Step 1 down",
        "Remove Step 1",
        "Move Step 2 up",
        "Remove Step 2",
        "Add a price to Prices",
        "Remove tea",
        "Add a condition to If",
        "Remove all conditions of If",
        "Move condition 1 of If down",
        "Put condition 1 of If into a group",
        "Remove condition 1 of If",
        "Add a condition to group 2 of If",
        "Move group 2 of If up",
        "Put group 2 of If into a group",
        "Remove group 2 of If",
        "Put condition 1 of group 2 of If into a group",
        "Remove condition 1 of group 2 of If",
        "Add a condition to Unless",
        "Put the condition of Unless into a group",
        "Remove the condition of Unless",
    ]


def test_conditions_are_nested_turned_and_taken_away() -> None:
    text = edited(edited(TEXT, "nest:when"), "add:when")
    text = edited(text, **{"when.conditions[1]/lhs": "var.city"})
    text = edited(text, **{"when.conditions[1]/rhs": "SIN"})
    assert read_toml(edited(text, **{"when/turn": "or"}))["when"]["operator"] == "or"  # type: ignore[index]  # a table
    turned = edited(text, **{"when/turn": "not"})
    said = [(each.depth, f"{each.begins} {each.says}".strip()) for each in sentences(FORM, read_toml(turned))]
    assert said[:4] == [
        (0, "if this does not hold"),
        (1, "all of these hold"),
        (2, "var.km is at least 10"),
        (2, "and var.city is SIN"),
    ]
    assert read_toml(edited(turned, **{"when/turn": "and"})) == read_toml(text)
    assert "when" not in read_toml(edited(edited(text, "remove:when.conditions[0]"), "remove:when.conditions[0]"))


@pytest.mark.parametrize(
    ("act", "typed", "kept"),
    [
        (
            "add:stops",
            {},
            ["# a trip of ours", "# never changes", "# only far ones", "# the first stop", "# the second stop"],
        ),
        ("", {"name": "tour", "fares.child": "2"}, ["# never changes", "# the second stop", "# half"]),
        ("add:when", {}, ["# only far ones", "# the first stop", "# half"]),
        ("", {"when/operator": "exists"}, ["# only far ones", "# the first stop"]),
    ],
)
def test_comments_stay_where_they_are(act: str, typed: Mapping[str, str], kept: list[str]) -> None:
    text = edited(TEXT, act, **typed)
    places = [text.find(each) for each in kept]
    assert -1 not in places
    assert places == sorted(places)


def test_a_text_that_cannot_be_changed_in_place_is_written_anew() -> None:
    apart = 'name = "a"\n[stops.x]\n[other]\n[stops.y]\n'
    steps = Edit(FORM, read_toml(apart), CHOICES).steps({"doc.name": "b"})
    assert read_toml(changed_text(apart, steps)) == {"name": "b", "stops": {"x": {}, "y": {}}, "other": {}}


def test_where_the_text_says_something_else_by_now() -> None:
    document = read_toml(TEXT)
    steps = Edit(FORM, document, CHOICES).steps({"doc.name": "tour", "doc.stops[0].train": "8"})
    now = {**document, "stops": [], "zone": "UTC"}
    assert changed_elsewhere(document, now, steps) == [("stops",)]


def test_a_fault_stands_at_its_field_or_at_what_holds_it() -> None:
    document = {**read_toml(TEXT), "name": ""}
    faults = [
        Fault("name", "'' is not a name"),
        Fault("stops[1].boat", "sinks"),
        Fault("when.rhs", "too far"),
        Fault("stops[0].seat", "unknown"),
        Fault("color", "unknown"),
    ]
    found = placed(faults, view(FORM, document, CHOICES), document)
    assert found.at == {
        "name": [FILL_IN],
        "stops[1].boat": ["sinks"],
        "when.rhs": ["too far"],
        "stops[0]": ["seat: unknown"],
    }
    assert found.elsewhere == [Fault("color", "unknown")]
    shown = view(FORM, document, CHOICES)
    assert [(each.label, each.anchor) for each in to_mend(found, shown)] == [
        ("Name", "field-doc.name"),
        ("If · With", "field-doc.when/rhs"),
        ("Stops · Stop 1", "part-stops[0]"),
        ("Stops · Stop 2 · Boat", "field-doc.stops[1].boat"),
    ]


def test_a_document_in_sentences_and_its_changes_by_labels() -> None:
    before = read_toml(TEXT)
    said = [f"{each.begins} {each.says}" for each in sentences(FORM, {**before, "most": {"trips": 1}}, CHOICES)]
    assert said == [
        "if var.km is at least 10",
        "then train 7",
        "then the boat Ana",
        "fares child 1.50",
        "at most 1 trip",
    ]
    text = edited(edited(TEXT, "remove:stops[0]"), **{"fares.child": "2", "most.trips": "3", "zone": "UTC"})
    assert [str(each) for each in changes(FORM, before, read_toml(text), CHOICES)] == [
        "Zone: Asia/Singapore → UTC",
        "From: 2026-01-01 08:00+08:00 → 2026-01-01 08:00+00:00",
        "Stops · stop 1 · Train: 7 → nothing",
        "Fares · child: 1.50 → 2",
        "Most · Trips: nothing → 3",
    ]


def test_the_example_and_the_schema() -> None:
    assert example(FORM) == {
        "name": "trip",
        "zone": "Asia/Singapore",
        "from": "2026-01-01T08:00:00+08:00",
        "stops": [{"train": 7}],
        "kind": "private",
        "host": "ann",
    }
    drawn = schema(FORM)
    assert (drawn["required"], drawn["additionalProperties"]) == (["name", "stops", "kind", "host"], False)
    assert drawn["properties"]["stops"]["maxItems"] == 3
    named = {"name", "zone", "from", "when", "stops", "fares", "words", "kind", "host", "groups", "over", "most"}
    assert set(drawn["properties"]) == named
    assert [each["const"] for each in drawn["properties"]["kind"]["anyOf"]] == ["private", "guided"]
    assert drawn["description"] == 'One of kind "private", host or kind "guided", host, groups'


@pytest.mark.parametrize("path", [("a",), ("a", 0, "b-c", 12), ("a", "en-SG", "x.y", 'q"uote')])
def test_a_path_is_read_as_it_is_written(path: tuple[str | int, ...]) -> None:
    assert read(written(path)) == path


def test_of_a_long_list_a_name_is_typed_and_the_form_has_the_list_once() -> None:
    ways = [Field(name=each, sort=Pick("nodes"), label=each) for each in ("next", "otherwise")]
    form, document = Form([*ways]), {"next": "n7"}
    names = [f"n{number}" for number in range(101)]
    for there, kinds in ((names[:100], {"select"}), (names, {"text"})):
        choices = Choices(lists={"nodes": [Option(each, each) for each in there]})
        shown = view(form, document, choices)
        assert {each.input for each in shown.controls()} == kinds
        assert {name: list(values) for name, values in shown.lists.items()} == (
            {} if kinds == {"select"} else {"nodes": names}
        )
        steps = Edit(form, document, choices).steps({"doc.otherwise": "n100"})
        assert applied(document, steps) == {"next": "n7", "otherwise": "n100"}
