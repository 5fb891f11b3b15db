"""What an audit finds wrong with a journey."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from abacus.engage.journeys.decide.journey_reader import parse_journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.signals.events.decide.event_reader import own_reader
from abacus.signals.events.decide.source import parse_source
from tests.reliability.chaos.campaigned import HOUSE
from tests.reliability.chaos.travelled import BEGUN, POINTS, WAITS, Turn, body, document, member, turn_of, visitors_of
from tests.reliability.chaos.travels_judged import Happened, Left, Visit, faults_of_travels
from tests.support.campaigns import publications

SINCE: Final = datetime(2026, 10, 31, 12, tzinfo=UTC)
SECOND: Final = timedelta(seconds=1)
NODES: Final = {"hello": 1, "gift": 2, "thank": 3, "remind": 4}
BUYER, LEAVER, SLEEPER = MEMBERS = [member(number) for number in range(3)]
_DONE: Final = {BUYER: (1, 2, 3), LEAVER: (1, 2), SLEEPER: (1, 2, 4)}
_KEYS: Final = [f"journey:visits:1:{each}:{node}" for each, nodes in _DONE.items() for node in nodes]
_GIFTS: Final = [each for each in _KEYS if each.endswith(":2")]
_BOUGHT: Final = Happened(BUYER, Turn.BUYS, SINCE + SECOND, SINCE + 2 * SECOND)
_GONE: Final = Happened(LEAVER, Turn.GOES, SINCE + SECOND, SINCE + 2 * SECOND)
VISITS: Final = [
    Visit(BUYER, 1, "again", SINCE),
    Visit(LEAVER, 1, "gone", SINCE),
    Visit(SLEEPER, 1, "once", SINCE),
]
RIGHT: Final = Left(
    nodes=NODES,
    visits=VISITS,
    happened=[_BOUGHT, _GONE],
    actions=[(key, True) for key in _KEYS],
    notices=[f"{key}/0" for key in _KEYS if key not in _GIFTS],
    transfers=[(key, POINTS) for key in _GIFTS],
    ends=MEMBERS,
)
_TIMED_OUT: Final[Mapping[str, Any]] = {
    "visits": [Visit(BUYER, 1, "once", SINCE), *VISITS[1:]],
    "actions": [(key.replace(f"{BUYER}:3", f"{BUYER}:4"), True) for key in _KEYS],
    "notices": [each.replace(f"{BUYER}:3", f"{BUYER}:4") for each in RIGHT.notices],
}


def test_each_third_of_the_members_does_something_else() -> None:
    assert [turn_of(each) for each in MEMBERS] == [Turn.BUYS, Turn.GOES, Turn.STAYS]
    assert [visitors_of(each) for each in (10, 1_000)] == [3, 10]


def test_the_journey_can_be_published_and_its_events_are_read() -> None:
    house, beside = parse_source({**HOUSE}).published(1), publications()
    around = JourneyPublications(replace(beside, sources={**beside.sources, house.name: house}))
    journey = parse_journey(document(), around)
    reader = own_reader([house])
    for type_ in (BEGUN, Turn.BUYS, Turn.GOES):
        event = reader.read(body(BUYER, type_, SINCE), SINCE)
        assert event is not None
        assert (event.member_id, event.type) == (BUYER, type_)
        assert (event.source, event.type) in {*journey.entry.on, *journey.awaited, *journey.exits[0].on}


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, []),
        ({"visits": VISITS[1:], "ends": MEMBERS[1:]}, ["did not enter: v00000", "of the journey decided for nothing"]),
        ({"visits": [*VISITS, VISITS[2]._replace(visit=2)], "ends": [*MEMBERS, SLEEPER]}, ["entered twice: v00002"]),
        (
            {"visits": [*VISITS[:2], VISITS[2]._replace(why=None)]},
            ["still inside: v00002", "the trail has another end"],
        ),
        ({"ends": MEMBERS[:2]}, ["the trail has no end of: v00002"]),
        ({"ends": [*MEMBERS, BUYER]}, ["the trail has another end of: v00000"]),
        (_TIMED_OUT, ["left for another reason: v00000: once, not again"]),
        ({**_TIMED_OUT, "happened": [_BOUGHT._replace(stamped_at=SINCE + WAITS + SECOND), _GONE]}, []),
        ({**_TIMED_OUT, "happened": [_GONE]}, []),
        ({"actions": RIGHT.actions[1:]}, ["of the journey not decided: journey:visits:1:v00000:1"]),
        ({"actions": [*RIGHT.actions, RIGHT.actions[0]]}, ["of the journey decided for nothing"]),
        ({"actions": [(RIGHT.actions[0][0], False), *RIGHT.actions[1:]]}, ["of the journey not done"]),
        ({"notices": RIGHT.notices[1:]}, ["messages of the journey not entered"]),
        ({"notices": [*RIGHT.notices, "journey:visits:1:v00000:1/1"]}, ["messages of the journey for nothing"]),
        ({"transfers": RIGHT.transfers[1:]}, ["awards of the journey not posted"]),
        ({"transfers": [*RIGHT.transfers, RIGHT.transfers[0]]}, ["posted for the journey for nothing"]),
    ],
)
def test_what_does_not_hold(changes: Mapping[str, Any], faults: list[str]) -> None:
    found = list(faults_of_travels(MEMBERS, RIGHT._replace(**changes)))
    assert [begin for begin in faults if not any(each.startswith(begin) for each in found)] == [], found
    if not faults:
        assert found == []
