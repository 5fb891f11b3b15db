"""Definitions are found by key and by type of event."""

import pytest

from abacus.signals.counters.decide.catalog import Catalog, Unknown
from tests.signals.counters.weather import NOW, SOURCES, counter

RAIN = counter()
SNOW = counter(id=35, name="snow", template="snow:{country}:{city_id}", on=["snow.flake"])
BOTH = counter(id=36, name="both", template="all", on=["snow.flake", "weather/rain.drop", "sky/rain.drop"])
OLD = counter(id=37, name="old", template="old:{city_id}", on=["sunset"]).published(2, NOW, NOW)
CATALOG = Catalog([SNOW, RAIN, OLD, BOTH], SOURCES)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("rain_drops:city:111222", "count_rain_drops"),
        ("rain_drops:city:", "count_rain_drops"),
        ("snow:SG:x:y", "snow"),
        ("all", "both"),
        ("old:1", "old"),
    ],
)
def test_a_key_has_one_definition(key: str, name: str) -> None:
    assert CATALOG.find(key).name == name


@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("", "there is no counter with a key such as ''; `abacus counters list` prints their templates"),
        ("rain_drops:city", "there is no counter with a key such as 'rain_drops:city'; `abacus counters list` prints"),
        ("zebra", "there is no counter with a key such as 'zebra'; "),
        ("Rain_drops:city:1", "there is no counter with a key such as 'Rain_drops:city:1'; "),
        ("alle", "'alle' does not fit the template of both, all"),
        ("snow:SG", "'snow:SG' does not fit the template of snow, snow:{country}:{city_id}"),
        ("snow:%:1", "'snow:%:1' does not fit the template of snow"),
        ("old:" + "é" * 255, "is longer than 512 bytes, which no key is"),
    ],
)
def test_a_key_without_a_definition(key: str, why: str) -> None:
    with pytest.raises(Unknown) as caught:
        CATALOG.find(key)
    assert why in str(caught.value)


def test_nothing_is_found_where_nothing_is_published() -> None:
    with pytest.raises(Unknown, match="there is no counter with a key such as 'rain'"):
        Catalog([], SOURCES).find("rain")


def test_types_are_those_that_something_counts() -> None:
    assert CATALOG.types() == {"weather": {"rain.drop", "snow.flake"}, "sky": {"rain.drop"}}


@pytest.mark.parametrize(
    ("source", "event_type", "names"),
    [
        ("weather", "rain.drop", ["both", "count_rain_drops"]),
        ("weather", "snow.flake", ["both", "snow"]),
        ("sky", "rain.drop", ["both"]),
        ("sky", "sunset", []),
        ("sea", "wave", []),
        ("moon", "rise", []),
    ],
)
def test_the_definitions_that_count_a_type(source: str, event_type: str, names: list[str]) -> None:
    assert [each.definition.name for each in CATALOG.measures(source, event_type)] == names


def test_what_was_compiled_for_one_catalogue_serves_the_next() -> None:
    (first,) = Catalog([RAIN], SOURCES).measures("weather", "rain.drop")
    (second,) = Catalog([RAIN, SNOW], dict(SOURCES)).measures("weather", "rain.drop")
    assert first is second
