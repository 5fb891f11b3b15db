"""What the form of a source offers."""

from typing import Any

import pytest

from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.decide.source_form import source_choices, topics_offered
from tests.support.counters import WEATHER

EVENTS = "abacus.events.v1"


@pytest.mark.parametrize(
    ("there", "offered"),
    [
        ([], ["weather.observations"]),
        (["store.visits"], ["store.visits", "weather.observations"]),
        ([EVENTS, f"{EVENTS}.weather", "__consumer_offsets"], ["weather.observations"]),
    ],
)
def test_topics_that_a_source_may_name_are_offered(there: list[str], offered: list[str]) -> None:
    assert topics_offered(there, [parse_source(WEATHER)], EVENTS) == offered


@pytest.mark.parametrize(
    ("document", "partners"),
    [({}, ["acme", "beta"]), ({"senders": ["acme"]}, ["beta"]), ({"senders": "acme"}, ["acme", "beta"])],
)
def test_partners_that_are_no_senders_yet_are_offered(document: dict[str, Any], partners: list[str]) -> None:
    choices = source_choices(document, ["acme", "beta"], [])
    assert [each.value for each in choices.of("partners")] == partners
