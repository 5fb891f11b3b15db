"""Time zones as people choose them."""

from itertools import takewhile
from zoneinfo import available_timezones

import pytest

from abacus.documents.form.zones import zone_options


@pytest.mark.parametrize(
    ("country", "used", "first"),
    [
        ("SG", (), ["Asia/Singapore", "UTC"]),
        ("ID", (), ["Asia/Jakarta", "Asia/Pontianak", "Asia/Makassar", "Asia/Jayapura", "UTC"]),
        ("SG", ["Asia/Jakarta", "Asia/Singapore"], ["Asia/Singapore", "Asia/Jakarta", "UTC"]),
        ("partner:acme", (), ["UTC"]),
        (None, (), ["UTC"]),
        (["SG"], (), ["UTC"]),
    ],
)
def test_the_zones_of_the_country_stand_first_and_every_zone_once(
    country: object, used: list[str], first: list[str]
) -> None:
    options = zone_options(country, used)
    assert [each.value for each in takewhile(lambda each: not each.under, options)] == first
    names = [each.value for each in options]
    assert len(names) == len(set(names)) > 400
    assert set(names) <= available_timezones()
