"""Whether a draft can become a version, and the changes that it makes, in words."""

from typing import Any

import pytest

from abacus.signals.counters.decide.diff import describe_changes, faults_beside
from tests.signals.counters.weather import NOW, counter, draft

OTHER = counter(id=7, name="snow", template="snow:{city_id}", on=["snow.flake"])
RETIRED = counter(id=8, name="hail", template="hail:{city_id}").published(1, NOW, NOW)
PUBLISHED = [counter(), OTHER, RETIRED]
ANEW = "a new version counts from 0, under the same keys; what the version before counted cannot be asked for"


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, []),
        ({"template": "rain:{city_id}"}, []),
        ({"name": "rain"}, ["name: 34 is count_rain_drops, and stays so; write another id for another counter"]),
        ({"id": 9}, ["name: count_rain_drops is the name of 34 already", "template: count_rain_drops begins"]),
        ({"id": 9, "name": "hail", "template": "h:{city_id}"}, ["name: hail is the name of 8 already"]),
        (
            {"template": "snow:{city_id}:{country}"},
            [
                (
                    "template: count_rain_drops begins with 'snow:' and snow with 'snow:': one is the beginning of the"
                    " other, so a key could be of both"
                )
            ],
        ),
        ({"template": "sno"}, ["template: count_rain_drops begins with 'sno' and snow with 'snow:'"]),
        (
            {"template": "hail:big:{city_id}"},
            ["template: count_rain_drops begins with 'hail:big:' and hail with 'hail:'"],
        ),
        ({"template": "snows:{city_id}"}, []),
    ],
)
def test_beside_what_is_published(changes: dict[str, Any], faults: list[str]) -> None:
    found = [str(fault) for fault in faults_beside(draft(**changes), PUBLISHED)]
    assert len(found) == len(faults)
    assert all(each.startswith(beginning) for each, beginning in zip(found, faults, strict=True))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"on": ["weather/rain.drop"], "keep": {"days": "730d"}}, []),
        ({"timezone": "Asia/Tokyo"}, ["timezone: UTC → Asia/Tokyo", ANEW]),
        ({"new_keys_per_day": 1_000_000}, []),
        ({"new_keys_per_day": 500}, ["new_keys_per_day: 1000000 → 500", ANEW]),
        ({"keep": {"hours": "0"}}, ["keep.hours: 60d → none", ANEW]),
        ({"add": "var.amount"}, ["add: added, var.amount", "decimals: added, 2", ANEW]),
        ({"template": "rain:{city_id}"}, ["template: rain_drops:city:{city_id} → rain:{city_id}", ANEW]),
        (
            {"when": {"operator": "exists", "lhs": "var.amount"}},
            ['when: added, {"operator": "exists", "lhs": "var.amount"}', ANEW],
        ),
    ],
)
def test_changes(changes: dict[str, Any], words: list[str]) -> None:
    assert describe_changes(counter(), draft(**changes)) == words


def test_a_first_version_and_one_after_a_retirement() -> None:
    assert describe_changes(None, draft()) == [
        "first version of count_rain_drops",
        "id: 34",
        "name: count_rain_drops",
        "template: rain_drops:city:{city_id}",
        "on: weather/rain.drop",
        "timezone: UTC",
        "keep.quarters: 8d",
        "keep.hours: 60d",
        "keep.days: 2y",
        "new_keys_per_day: 1000000",
    ]
    retired = counter().published(1, NOW, NOW)
    assert describe_changes(retired, draft()) == ["counts again: the version before is retired", ANEW]
