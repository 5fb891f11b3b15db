"""When places are open: what rules say, and by which clock."""

from datetime import UTC, date, datetime

import pytest

from abacus.core.fields import Bad
from abacus.signals.places.decide.country_map import CountryMap, Maps
from abacus.signals.places.decide.hours import is_open, parse_hours
from abacus.signals.places.decide.opening import Opening
from abacus.signals.places.decide.place import Place

CHRISTMAS = date(2026, 12, 25)  # a Friday


@pytest.mark.parametrize(
    ("hours", "at", "expected"),
    [
        ("Mo-Fr 09:00-18:00", "2026-11-27T09:00", True),
        ("Mo-Fr 09:00-18:00", "2026-11-27T08:59", False),
        ("Mo-Fr 09:00-18:00", "2026-11-27T17:59", True),
        ("Mo-Fr 09:00-18:00", "2026-11-27T18:00", False),
        ("Mo-Fr 09:00-18:00", "2026-11-28T12:00", False),
        ("Mo-Fr 09:00-18:00; Sa 10:00-14:00; PH off", "2026-11-28T13:00", True),
        ("Mo-Fr 09:00-18:00; PH off", "2026-12-25T12:00", False),
        ("Mo-Fr 09:00-18:00", "2026-12-25T12:00", True),  # a holiday without a rule is a Friday
        ("24/7; PH 10:00-12:00", "2026-12-25T13:00", False),
        ("PH off; 24/7", "2026-12-25T13:00", False),  # the second rule names no holidays
        ("24/7", "2026-11-29T23:59", True),
        ("off", "2026-11-29T12:00", False),
        ("09:00-12:00,13:00-18:00", "2026-11-29T12:30", False),
        ("09:00-12:00, 13:00 - 18:00", "2026-11-29T13:00", True),
        ("Sa 22:00-03:00", "2026-11-28T23:30", True),
        ("Sa 22:00-03:00", "2026-11-29T02:59", True),
        ("Sa 22:00-03:00", "2026-11-29T03:00", False),
        ("Sa 22:00-03:00", "2026-11-28T02:00", False),
        ("Sa 22:00-27:00", "2026-11-29T02:59", True),
        ("Su 22:00-03:00", "2026-11-30T01:00", True),  # from the last day of the week into the first
        ("Mo-Su 22:00-02:00; We off", "2026-11-25T01:00", True),  # opened on Tuesday
        ("Mo-Su 22:00-02:00; We off", "2026-11-26T01:00", False),
        ("Mo-Fr 09:00-18:00; PH 22:00-02:00", "2026-12-26T01:00", True),
        ("Sa-Mo,We 10:00-11:00", "2026-11-30T10:30", True),
        ("Sa-Mo,We 10:00-11:00", "2026-12-01T10:30", False),
        ("Mo-Fr 09:00-18:00; We 10:00-12:00", "2026-11-25T09:30", False),  # the later rule takes the day
        ("Mo 00:00-24:00", "2026-11-30T23:59", True),
        ("Mo 00:00-24:00", "2026-12-01T00:00", False),
    ],
)
def test_a_place_is_open_by_its_rules(hours: str, at: str, expected: bool) -> None:  # noqa: FBT001  # a column
    assert is_open(parse_hours(hours), datetime.fromisoformat(at), {CHRISTMAS}) is expected


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        ("", "is no rule of opening hours"),
        ("Mo-Fr", "is no rule of opening hours"),
        ("Apr-Sep: 09:00-18:00", "is no rule of opening hours"),
        ("Mon-Fri 09:00-18:00", "'Mon-Fri' is no day"),
        ("Mo-Fr 9:00-18:00", "'9:00-18:00' is no span of a day"),
        ("Mo 09:00-09:00", "open all day is 00:00-24:00"),
        ("Mo 10:00-35:00", "open all day is 00:00-24:00"),
        ("Mo 25:00-26:00", "is no span of a day"),
        ("Mo-PH 09:00-18:00", "'Mo-PH' is no day"),
        ("Mo 09:00-10:00;" * 20, "write at most 200"),
    ],
)
def test_what_is_no_hours_is_told(hours: str, words: str) -> None:
    with pytest.raises(Bad, match=words):
        parse_hours(hours)


@pytest.mark.parametrize(
    ("zone", "at", "expected"),
    [
        # Berlin's clock skips from 02:00 to 03:00 on 29 March 2026, at 01:00 UTC.
        ("Europe/Berlin", datetime(2026, 3, 29, 0, 59, tzinfo=UTC), True),
        ("Europe/Berlin", datetime(2026, 3, 29, 1, 0, tzinfo=UTC), False),
        # On 25 October 2026 it shows 02:00 to 03:00 twice, from 00:00 UTC on.
        ("Europe/Berlin", datetime(2026, 10, 25, 0, 59, tzinfo=UTC), True),
        ("Europe/Berlin", datetime(2026, 10, 25, 1, 59, tzinfo=UTC), True),
        ("Europe/Berlin", datetime(2026, 10, 25, 2, 0, tzinfo=UTC), False),
        (None, datetime(2026, 10, 25, 2, 0, tzinfo=UTC), True),  # by the country's clock it is 10:00
    ],
)
def test_hours_hold_by_the_clock_of_the_place(zone: str | None, at: datetime, expected: bool) -> None:  # noqa: FBT001  # as above
    maps = Maps({"SG": CountryMap("SG", "Asia/Singapore")})
    shop = Place("a", "A", (103.8, 1.3), "SG", "m", hours="Sa,Su 22:00-03:00", timezone=zone)
    if zone is None:
        shop = shop._replace(hours="09:00-18:00")
    assert Opening(at, maps).is_open(shop) is expected


def test_a_place_without_hours_is_neither_open_nor_closed() -> None:
    opening = Opening(datetime(2026, 12, 25, 4, tzinfo=UTC), Maps({"SG": CountryMap("SG", "Asia/Singapore")}))
    assert opening.is_open(Place("a", "A", (103.8, 1.3), "SG", "m")) is None


def test_holidays_are_those_of_the_country() -> None:
    with_one = CountryMap("SG", "Asia/Singapore", holidays=frozenset({CHRISTMAS}))
    opening = Opening(datetime(2026, 12, 25, 4, tzinfo=UTC), Maps({"SG": with_one}))
    shop = Place("a", "A", (103.8, 1.3), "SG", "m", hours="24/7; PH off")
    assert opening.is_open(shop) is False
    assert opening.is_open(shop._replace(country="ID")) is True
