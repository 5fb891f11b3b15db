"""Keys by a template: two lists of values never make the same key, and each key fits its template."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.event_measure import Counted
from abacus.signals.counters.decide.template import pattern_of, read_template
from abacus.signals.events.types import Value
from tests.signals.counters.weather import SOURCES, counter, drop

values = st.text(alphabet="ab:%253A/{}é ", max_size=6)


def key_of(template: str, variables: Mapping[str, Value]) -> str:
    (counting,) = Catalog([counter(template=template)], SOURCES).measures("weather", "rain.drop")
    counted = counting.key_and_amount(drop(variables))
    assert isinstance(counted, Counted)
    return counted.key.removeprefix(counting.definition.space)


@pytest.mark.parametrize(
    ("template", "key"),
    [
        ("rain_drops", "rain_drops"),
        ("rain_drops:city:{city_id}", "rain_drops:city:a:b%"),
        ("rain:{city_id}:of:{member_id}", "rain:a%3Ab%25:of:bob"),
        ("rain:{city_id}:{station}:{official}", "rain:a%3Ab%25:-7:true"),
        ("rain:{country}:{city_id}:total", "rain:SG:a:b%:total"),
    ],
)
def test_keys(template: str, key: str) -> None:
    assert key_of(template, {"city_id": "a:b%", "station": -7, "official": True}) == key


@given(st.tuples(values, values), st.tuples(values, values))
def test_other_values_make_another_key(one: tuple[str, str], other: tuple[str, str]) -> None:
    template = "rain:{city_id}:of:{member_id}"
    (counting,) = Catalog([counter(template=template)], SOURCES).measures("weather", "rain.drop")
    keys = [counting.key_and_amount(drop(member_id=member, city_id=city)) for city, member in (one, other)]
    assert (keys[0] == keys[1]) is (one == other)


@given(values, values)
def test_each_key_fits_its_template(city: str, member: str) -> None:
    definition = counter(template="rain:{city_id}:of:{member_id}")
    catalog = Catalog([definition], SOURCES)
    (counting,) = catalog.measures("weather", "rain.drop")
    counted = counting.key_and_amount(drop(member_id=member, city_id=city))
    assert isinstance(counted, Counted)
    assert catalog.find(counted.key.removeprefix(definition.space)) is definition


@pytest.mark.parametrize(
    ("template", "key", "fits"),
    [
        ("rain:{a}:{b}", "rain:x:y", True),
        ("rain:{a}:{b}", "rain::", True),
        ("rain:{a}:{b}", "rain:x", False),
        ("rain:{a}:{b}", "rain:x%3Ay:z:z", True),
        ("rain:{a}:{b}", "rain:x%2:y", False),
        ("rain:{a}:end", "rain:x:end", True),
        ("rain:{a}:end", "rain:x:end:", False),
        ("rain", "rain", True),
        ("rain", "rains", False),
        ("a.c:{x}", "abc:1", False),
    ],
)
def test_what_fits(template: str, key: str, *, fits: bool) -> None:
    assert (pattern_of(read_template(template)).fullmatch(key) is not None) is fits


def test_a_template_is_written_as_it_was_read() -> None:
    assert str(read_template("rain:{city_id}:of:{member_id}/total")) == "rain:{city_id}:of:{member_id}/total"
