"""Whether an event counts, under which key, and how much."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.event_measure import MOST_UNITS, Counted, NotCounted
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.types import Event, Value
from tests.signals.counters.weather import NOW, SOURCES, WEATHER_DOCUMENT, counter, drop

HEAVY: Mapping[str, Any] = {"when": {"operator": "gte", "lhs": "var.amount", "rhs": "2"}}


def counted(changes: Mapping[str, Any], event: Event) -> Counted | NotCounted:
    (counting,) = Catalog([counter(**changes)], SOURCES).measures(event.source, event.type)
    return counting.key_and_amount(event)


@pytest.mark.parametrize(
    ("add", "value", "units"),
    [
        ({}, "1", 1),
        ({"add": "var.drops"}, 7, 7),
        ({"add": "var.drops"}, -7, -7),
        ({"add": "var.drops"}, 0, 0),
        ({"add": "var.amount"}, "12.34", 1234),
        ({"add": "var.amount"}, "12.345", 1235),
        ({"add": "var.amount"}, "-12.345", -1235),
        ({"add": "var.amount"}, "0.0049", 0),
        ({"add": "var.amount", "decimals": 0}, "12.5", 13),
        ({"add": "var.amount", "decimals": 6}, "0.0000015", 2),
        ({"add": "var.drops"}, MOST_UNITS, MOST_UNITS),
        ({"add": "var.drops"}, MOST_UNITS + 1, NotCounted.AMOUNT),
        ({"add": "var.amount"}, "1e300000", NotCounted.AMOUNT),
        ({"add": "var.amount"}, "1000000000000000", NotCounted.AMOUNT),
        ({"add": "var.amount"}, "10000000000000.00", MOST_UNITS),
        ({"add": "var.amount"}, "10000000000000.005", NotCounted.AMOUNT),
        ({"add": "var.amount"}, "NaN", NotCounted.MISFIT),
        ({"add": "var.amount"}, None, NotCounted.MISSING),
        ({"add": "var.drops"}, "7", NotCounted.MISFIT),
    ],
)
def test_what_is_added(add: dict[str, Any], value: str | int | None, units: int | NotCounted) -> None:
    name = add.get("add", "var.drops").removeprefix("var.")
    given: Value | None = Decimal(value) if isinstance(value, str) and name == "amount" else value
    variables: dict[str, Value] = {"city_id": "1"} if given is None else {"city_id": "1", name: given}
    outcome = counted(add, drop(variables))
    assert outcome == (units if isinstance(units, NotCounted) else Counted("34.1:rain_drops:city:1", units))


@pytest.mark.parametrize(
    ("changes", "event", "outcome"),
    [
        ({}, drop(city_id="1"), Counted("34.1:rain_drops:city:1", 1)),
        ({}, drop(), NotCounted.MISSING),
        ({"template": "rain:{member_id}"}, drop(), Counted("34.1:rain:bob", 1)),
        ({"template": "rain:{member_id}"}, drop(member_id=None), NotCounted.MISSING),
        ({"template": "rain:{country}"}, drop(country=None), NotCounted.MISSING),
        (HEAVY, drop(city_id="1", amount=Decimal(2)), Counted("34.1:rain_drops:city:1", 1)),
        (HEAVY, drop(city_id="1", amount=Decimal("1.99")), NotCounted.CONDITION),
        (HEAVY, drop(city_id="1"), NotCounted.CONDITION),
        (HEAVY, drop(city_id="1", amount="2"), NotCounted.MISFIT),
        ({}, drop(city_id="a\x00b"), NotCounted.KEY),
        ({}, drop(city_id="a\x1fb"), NotCounted.KEY),
        ({}, drop(city_id="a\ud800b"), NotCounted.KEY),
        ({}, drop(city_id="a\u00a0b\u200d"), Counted("34.1:rain_drops:city:a\u00a0b\u200d", 1)),
        ({}, drop(city_id=Decimal(1)), NotCounted.MISFIT),
        ({"template": "rain:{city_id}"}, drop(city_id="x" * 507), Counted("34.1:rain:" + "x" * 507, 1)),
        ({"template": "rain:{city_id}"}, drop(city_id="x" * 508), NotCounted.KEY),
        ({"template": "rain:{city_id}"}, drop(city_id="é" * 254), NotCounted.KEY),
    ],
)
def test_what_counts(changes: dict[str, Any], event: Event, outcome: Counted | NotCounted) -> None:
    assert counted(changes, event) == outcome


def test_versions_and_definitions_never_share_a_stored_key() -> None:
    keys = {counter(version, id=id_).stored_key("rain") for id_ in (1, 11) for version in (1, 11)}
    assert keys == {"1.1:rain", "1.11:rain", "11.1:rain", "11.11:rain"}


def test_a_rule_may_speak_of_a_variable_that_only_some_of_the_types_have() -> None:
    definition = counter(
        on=["weather/rain.drop", "weather/snow.flake"],
        when={
            "operator": "or",
            "conditions": [
                {"operator": "gt", "lhs": "var.drops", "rhs": 1},
                {"operator": "eq", "lhs": "event.type", "rhs": "snow.flake"},
            ],
        },
    )
    catalog = Catalog([definition], SOURCES)
    flake = Event("weather", "snow.flake", "F-1", None, None, NOW, {"city_id": "1"})
    outcomes = [
        catalog.measures(event.source, event.type)[0].key_and_amount(event)
        for event in (flake, drop(city_id="1", drops=1), drop(city_id="1", drops=2))
    ]
    assert outcomes == [
        Counted("34.1:rain_drops:city:1", 1),
        NotCounted.CONDITION,
        Counted("34.1:rain_drops:city:1", 1),
    ]


@pytest.mark.parametrize("types", [{"rain.drop": {"city_id": "text", "amount": "text"}}, {"snow.flake": {}}])
def test_a_rule_that_does_not_fit_its_source_any_more_counts_nothing(types: dict[str, Any]) -> None:
    source = parse_source({**WEATHER_DOCUMENT, "types": types}).published(2)
    for sources in ({"weather": source}, {}):
        (counting,) = Catalog([counter(**HEAVY)], sources).measures("weather", "rain.drop")
        assert counting.key_and_amount(drop(city_id="1", amount=Decimal(2))) is NotCounted.MISFIT
