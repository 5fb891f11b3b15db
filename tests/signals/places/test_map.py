"""Maps of countries: what they say, what is usual, and what is refused."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from abacus.core.fields import DocumentFaults
from abacus.signals.places.decide.country_map import CountryMap, Following, maps_of
from abacus.signals.places.decide.map_document import described, parse_map, to_document

SG = {"country": "SG", "timezone": "Asia/Singapore"}
FULL: dict[str, Any] = {
    **SG,
    "second_person_above": 0,
    "typical_purchase": "12.50",
    "holidays": ["2026-08-09", "2026-12-25"],
    "kinds": {"city": 20, "sales_region": 10},
    "positions": {"leave_after_m": 0, "once_in_minutes": 1440},
}


def test_a_map_says_what_stands_there_and_else_what_is_usual() -> None:
    assert parse_map(FULL) == CountryMap(
        "SG",
        "Asia/Singapore",
        {"city": 20, "sales_region": 10},
        0,
        Decimal("12.50"),
        frozenset({date(2026, 8, 9), date(2026, 12, 25)}),
        Following(0, 1440),
    )
    assert parse_map(SG) == CountryMap("SG", "Asia/Singapore", {}, 10, None, frozenset(), Following(100, 30))


@pytest.mark.parametrize("document", [SG, FULL, {**SG, "positions": {"leave_after_m": 7}}])
def test_a_map_is_written_as_it_was_read(document: dict[str, Any]) -> None:
    assert to_document(parse_map(document)) == document


@pytest.mark.parametrize(
    ("fields", "path", "words"),
    [
        ({"country": "Singapore"}, "country", "is not a country"),
        ({"timezone": "Asia/Singapur"}, "timezone", "did you mean Asia/Singapore?"),
        ({"kinds": {"Sales Region": 1}}, 'kinds."Sales Region"', "is not a kind"),
        ({"kinds": {"city": 1001}}, "kinds.city", "is not between 0 and 1000"),
        ({"second_person_above": 51}, "second_person_above", "is not between 0 and 50"),
        ({"typical_purchase": "0"}, "typical_purchase", "is nothing"),
        ({"typical_purchase": "1000000000001"}, "typical_purchase", "more than 12 digits"),
        ({"holidays": ["25 Dec"]}, "holidays", "is not a day such as 2026-12-25"),
        ({"holidays": ["2026-02-30"]}, "holidays", "is not a day such as 2026-12-25"),
        ({"positions": {"leave_after_m": -1}}, "positions.leave_after_m", "is negative"),
        ({"positions": {"once_in_minutes": 0}}, "positions.once_in_minutes", "is not between 1 and 1440"),
        ({"kind": {}}, "kind", "did you mean kinds?"),
    ],
)
def test_a_fault_is_told_at_its_field(fields: dict[str, Any], path: str, words: str) -> None:
    with pytest.raises(DocumentFaults) as refused:
        parse_map({**SG, **fields})
    (fault,) = refused.value.faults
    assert fault.path == path
    assert words in fault.message


def test_a_country_without_a_map_has_the_zone_of_its_card() -> None:
    maps = maps_of([parse_map(FULL)], {"SG": "Asia/Kuala_Lumpur", "ID": "Asia/Jakarta"})
    assert maps.of("SG") == parse_map(FULL)
    assert maps.of("ID") == CountryMap("ID", "Asia/Jakarta")
    assert maps.of("XX") == CountryMap("XX", "UTC")
    assert maps.countries == {"SG", "ID"}


def test_a_purchase_with_decimals_reads_back_as_it_was_written() -> None:
    written = parse_map({**SG, "typical_purchase": "20.00"})
    assert list(described(parse_map(to_document(written)))) == list(described(written))
