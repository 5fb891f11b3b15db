"""Every fault of a definition is named with its path."""

from typing import Any

import pytest

from abacus.core.fields import DocumentFaults
from abacus.signals.counters.decide.definition import to_document
from abacus.signals.counters.decide.definition_document import (
    faults_today,
    parse_definition,
    restore_definition,
)
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.types import Grain
from tests.signals.counters.weather import NOW, RAIN, SKY_DOCUMENT, SOURCES, draft

DAY_S = 86_400

# One row a case: the fields that change (None: left out), every fault that this makes.
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"id": None}, "id: missing"),
    ({"id": 0}, "id: 0 is not between 1 and 999999"),
    ({"id": "34"}, "id: '34' is a string; write a whole number without quotes"),
    (
        {"name": "Rain"},
        (
            "name: 'Rain' is not a name; write at most 64 small letters, digits and underscores, beginning with a"
            " letter (rides)"
        ),
    ),
    ({"template": "{city_id}"}, "template: write fixed text before the first field, such as rides:{member_id}"),
    ({"template": ""}, "template: write fixed text before the first field, such as rides:{member_id}"),
    ({"template": "rain:{City}"}, "template: {City} is not a field; write the name of a variable, such as {city_id}"),
    ({"template": "rain:{}"}, "template: {} is not a field; write the name of a variable, such as {city_id}"),
    (
        {"template": "rain {city_id}"},
        "template: 'rain ': beside fields, write letters, digits, colons, dots, dashes, slashes and _",
    ),
    (
        {"template": "rain:{city_id"},
        "template: 'rain:{city_id': beside fields, write letters, digits, colons, dots, dashes, slashes and _",
    ),
    (
        {"template": "rain:{city_id}{station}"},
        "template: write a colon after {city_id}: two fields need one between them, to be told apart",
    ),
    (
        {"template": "rain:{city_id}-{station}"},
        "template: write a colon after {city_id}: two fields need one between them, to be told apart",
    ),
    ({"template": "rain:" + ":".join(["{city_id}"] * 9)}, "template: 9 fields; write at most 8"),
    ({"template": "r" * 201}, f"template: '{'r' * 40}…' has 201 characters; write at most 200"),
    (
        {"template": "rain:{city}"},
        "template: {city}: weather/rain.drop has no variable 'city'; did you mean city_id?",
    ),
    ({"template": "rain:{amount}"}, "template: {amount}: of type decimal; a template takes text, integer, boolean"),
    (
        {"template": "rain:{member_id}", "on": ["sea/wave"]},
        "template: {member_id}: the events of sea have none; a field of that source has to name its place",
    ),
    ({"on": []}, 'on: write an array of types of events, such as ["rain.drop"] or ["weather/rain.drop"]'),
    (
        {"on": "weather/rain.drop"},
        'on: write an array of types of events, such as ["rain.drop"] or ["weather/rain.drop"]',
    ),
    ({"on": ["rain.drop"]}, "on[0]: 'rain.drop' is a type of sky and of weather; write sky/rain.drop"),
    ({"on": ["snow.flak"]}, "on[0]: no source has events of the type 'snow.flak'; did you mean snow.flake?"),
    ({"on": ["wether/rain.drop"]}, "on[0]: no source 'wether' is published; did you mean weather?"),
    (
        {"on": ["weather/rain.drop", "sea/storm"]},
        "on[1]: sea has no events of the type 'storm'; `abacus events list` prints what there is",
    ),
    (
        {"template": "precipitation:{drops}", "on": ["weather/rain.drop", "weather/snow.flake"]},
        "template: {drops}: weather/snow.flake has no variable 'drops'",
    ),
    (
        {"add": "var.amount", "on": ["weather/rain.drop", "weather/snow.flake"]},
        "add: 'amount' is decimal in weather/rain.drop and integer in weather/snow.flake; it has to be of one type",
    ),
    ({"add": 2}, 'add: 2 is an integer; write 1, or a variable such as "var.amount"'),
    ({"add": True}, 'add: true is a boolean; write 1, or a variable such as "var.amount"'),
    ({"add": "amount"}, "add: 'amount' is a string; write 1, or a variable such as \"var.amount\""),
    ({"add": "var.amont"}, "add: weather/rain.drop has no variable 'amont'; did you mean amount?"),
    ({"add": "var.city_id"}, "add: var.city_id is of type text; only integers and decimals can be added"),
    ({"decimals": 2}, "decimals: only a decimal variable is counted in decimals; leave it out"),
    ({"add": "var.amount", "decimals": 7}, "decimals: 7 is not between 0 and 6"),
    ({"timezone": "Asia/Singapor"}, "timezone: 'Asia/Singapor' is not a time zone; did you mean Asia/Singapore?"),
    ({"keep": {"quarters": "0"}}, "keep.quarters: quarters are always kept; write for how long, such as 8d"),
    (
        {"keep": {"quarters": "8 days"}},
        "keep.quarters: '8 days' is not a duration; write hours, days or years, such as 36h, 60d or 2y",
    ),
    ({"keep": {"days": "11y"}}, "keep.days: 11y is longer than 10y"),
    (
        {"keep": {"quarters": "8d", "hours": "7d"}},
        "keep.hours: shorter than finer counts are kept, so that nobody would need them; write '0' for none",
    ),
    ({"keep": {"weeks": "8d"}}, "keep.weeks: unknown"),
    ({"keep": {"minutes": "49h"}}, "keep.minutes: minutes are kept for hours, for 48h at most"),
    (
        {"keep": {"minutes": "9h", "quarters": "8h"}},
        "keep.quarters: shorter than finer counts are kept, so that nobody would need them; write '0' for none",
    ),
    ({"new_keys_per_day": 0}, "new_keys_per_day: 0 is not between 1 and 1000000000"),
    ({"new_keys_per_day": "10"}, "new_keys_per_day: '10' is a string; write a whole number without quotes"),
    ({"when": "always"}, "when: 'always' is a string; write a table"),
    (
        {"when": {"operator": "and", "conditions": [{"operator": "lt", "lhs": "var.city_id", "rhs": 3}]}},
        (
            "when.conditions[0].operator: lt does not go with var.city_id, of type text; write eq, ne, in, contains,"
            " starts_with, exists"
        ),
    ),
    ({"wehn": {}}, "wehn: unknown; did you mean when?"),
    (
        {"id": -1, "template": "rain:{city}", "add": "var.amont", "when": {}},
        (
            "id: -1 is negative\n"
            "template: {city}: weather/rain.drop has no variable 'city'; did you mean city_id?\n"
            "add: weather/rain.drop has no variable 'amont'; did you mean amount?\n"
            "when.operator: missing"
        ),
    ),
]


@pytest.mark.parametrize(("changes", "faults"), FAULTS)
def test_faults(changes: dict[str, Any], faults: str) -> None:
    document = {name: value for name, value in {**RAIN, **changes}.items() if value is not None}
    with pytest.raises(DocumentFaults) as caught:
        parse_definition(document, SOURCES)
    assert str(caught.value) == faults


def test_the_published_example() -> None:
    definition = draft()
    assert (definition.on, definition.add, definition.decimals) == ((("weather", "rain.drop"),), 1, 0)
    assert dict(definition.keep) == {Grain.QUARTER: 8 * DAY_S, Grain.HOUR: 60 * DAY_S, Grain.DAY: 730 * DAY_S}
    assert definition.zone.key == "UTC"


@pytest.mark.parametrize(
    ("on", "resolved"),
    [
        (["snow.flake"], (("weather", "snow.flake"),)),
        (
            ["weather/rain.drop", "snow.flake", "weather/snow.flake"],
            (("weather", "rain.drop"), ("weather", "snow.flake")),
        ),
        (["sunset", "sky/rain.drop"], (("sky", "sunset"), ("sky", "rain.drop"))),
    ],
)
def test_a_type_that_one_source_has_needs_no_source(on: list[str], resolved: tuple[tuple[str, str], ...]) -> None:
    assert draft(on=on).on == resolved


@pytest.mark.parametrize(
    ("keep", "days"),
    [
        ({}, (8, 60, 730)),
        ({"quarters": "36h"}, (1.5, 60, 730)),
        ({"quarters": "90d"}, (90, 90, 730)),
        ({"hours": "0"}, (8, None, 730)),
        ({"hours": "0", "days": "0"}, (8, None, None)),
        ({"quarters": "1d", "hours": "1d", "days": "10y"}, (1, 1, 3650)),
    ],
)
def test_keep(keep: dict[str, str], days: tuple[float | None, ...]) -> None:
    kept = draft(keep=keep).keep
    assert tuple(kept[grain] / DAY_S if grain in kept else None for grain in list(Grain)[:3]) == days


@pytest.mark.parametrize(("minutes", "hours"), [(None, None), ("0", None), ("1h", 1), ("2d", 48)])
def test_minutes_are_kept_only_where_they_are_named(minutes: str | None, hours: int | None) -> None:
    definition = draft(keep={} if minutes is None else {"minutes": minutes})
    assert definition.keep.get(Grain.MINUTE) == (hours and hours * 3600)
    assert ("minutes" in to_document(definition)["keep"]) is (hours is not None)  # type: ignore[operator]  # a table


@pytest.mark.parametrize(("decimals", "counted"), [({}, 2), ({"decimals": 0}, 0), ({"decimals": 6}, 6)])
def test_a_decimal_is_counted_in_two_decimals_unless_others_are_named(decimals: dict[str, int], counted: int) -> None:
    assert draft(add="var.amount", **decimals).decimals == counted


RULE = {"operator": "in", "lhs": "var.city_id", "rhs": ["b", "a", "a"]}
ROWS: list[dict[str, Any]] = [
    {},
    {"add": "var.amount", "decimals": 0},
    {"add": "var.drops", "timezone": "Asia/Kathmandu", "keep": {"quarters": "3h", "hours": "0"}},
    {"keep": {"minutes": "6h"}},
    {"when": RULE, "template": "rain:{city_id}:of:{member_id}:{official}/total"},
]


@pytest.mark.parametrize("changes", ROWS)
def test_a_definition_comes_back_from_its_document(changes: dict[str, Any]) -> None:
    definition = draft(**changes)
    document = to_document(definition)
    assert parse_definition(document, SOURCES) == definition
    assert restore_definition(document, 3, NOW, None) == definition.published(3, NOW)


def test_a_published_definition_is_restored_whatever_became_of_its_sources() -> None:
    definition = draft(when=RULE)
    assert restore_definition(to_document(definition), 1, NOW, NOW).retired
    assert faults_today(definition, CounterPublications(SOURCES)) == ()
    (fault,) = faults_today(definition, CounterPublications({"sky": SOURCES[SKY_DOCUMENT["source"]]}))
    assert str(fault) == "on[0]: no source 'weather' is published; `abacus events list` prints what there is"
