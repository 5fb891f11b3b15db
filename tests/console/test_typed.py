"""What people type into fields, as documents have it."""

from datetime import datetime

import pytest

from abacus.console.decide.typed import day, exact_moment, local_moment, midnight_of, number
from abacus.console.web.forms import Form

SG = "Asia/Singapore"
DAY = datetime.fromisoformat("2026-03-01T00:00+08:00")


@pytest.mark.parametrize(
    ("typed", "begins", "ends"),
    [
        ("2026-03-01", "2026-03-01T00:00+08:00", "2026-03-02T00:00+08:00"),
        ("2026-12-31", "2026-12-31T00:00+08:00", "2027-01-01T00:00+08:00"),
        ("2199-12-31", "2199-12-31T00:00+08:00", "2200-01-01T00:00+08:00"),
        ("", None, None),
        ("1 March", None, None),
        ("2026-02-30", None, None),
        ("0001-01-01", None, None),
        ("9999-12-31", None, None),
    ],
)
def test_a_day_begins_and_ends_in_its_zone(typed: str, begins: str | None, ends: str | None) -> None:
    found = [midnight_of(typed, SG), midnight_of(typed, SG, later=1)]
    assert found == [None if each is None else datetime.fromisoformat(each) for each in (begins, ends)]
    assert (day(typed) is None) is (begins is None)


@pytest.mark.parametrize(
    ("typed", "local", "exact"),
    [
        ("2026-03-01T00:00", DAY, None),
        ("2026-03-01T00:00+08:00", DAY, DAY),
        ("2026-03-01T00:00 08:00", None, DAY),
        ("soon", None, None),
        ("0001-01-01T00:00", None, None),
        ("9999-12-31T23:59-08:00", None, None),
    ],
)
def test_a_moment_has_an_offset_or_the_zones(typed: str, local: datetime | None, exact: datetime | None) -> None:
    assert (local_moment(typed, SG), exact_moment(typed)) == (local, exact)


@pytest.mark.parametrize(
    ("typed", "found"), [("12", 12), ("1,000", 1000), ("1001", None), ("-1", None), ("", None), ("x", None)]
)
def test_a_number_has_a_bound(typed: str, found: int | None) -> None:
    assert number(typed, 1000) == found


@pytest.mark.parametrize(
    ("typed", "wrong"),
    [
        ({}, set()),
        ({"from": "2026-03-01", "kind": "member"}, set()),
        ({"from": "March", "kind": "house"}, {"from", "kind"}),
    ],
)
def test_a_filter_names_what_it_cannot_read(typed: dict[str, str], wrong: set[str]) -> None:
    assert set(Form(typed).with_days("from", "to").with_one_of("kind", ["member"]).wrong) == wrong
