"""What the benchmarks expect of rides is what the offers' own rules say."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from abacus.cli.examples import example_cards
from abacus.engage.campaigns.decide.campaign_index import Armed, CampaignIndex
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.types import Event
from benchmarks.ride_offers import (
    SEGMENTS,
    SOURCE,
    Rides,
    digits_of,
    earning,
    member_name,
    offers,
    segment_name,
    source_document,
)

NOW = datetime.now(UTC)  # rides are of the moment at which they are sent
MEMBERS = 3_000
SOURCES = [parse_source(source_document("rides")).published(1)]
SEGMENTS_OF = {
    member_name(number): {segment_name(place, int(digit)) for place, digit in enumerate(digits_of(number))}
    for number in range(MEMBERS)
}
AROUND = Publications(
    {SOURCE: SOURCES[0]},
    NOW,
    {card.scope: PublishedCard(card, 1) for card in example_cards()},
    segments=set().union(*SEGMENTS_OF.values()),
)


def running(number: int) -> CampaignIndex:
    found = CampaignIndex()
    found.put([parse_campaign(each, AROUND).numbered(1) for each in offers(number, NOW)], AROUND)
    return found


def holds(armed: Armed, event: Event) -> bool | None:
    assert armed.plan is not None
    ours = SEGMENTS_OF[event.member_id or ""]
    return armed.plan.decide(event, {f"segment.{name}": name in ours for name in AROUND.segments}).holds


@pytest.mark.parametrize("number", [100, 601])
def test_every_tenth_ride_earns_by_one_offer_and_the_others_by_none(number: int) -> None:
    read, there = EventReader(SOURCES, "rides", events_topic="events").read, running(number)
    sent = [value for _, _, value in Rides("test", number, MEMBERS).messages(range(1, 2_001))]
    events = [read(value, datetime.now(UTC)) for value in sent]  # the suite may have run for minutes
    answering = [(event, there.answering(event)) for event in events if event is not None]
    answers = [sum(holds(armed, event) is True for armed in some) for event, some in answering]
    assert len(answers) == 2_000
    assert answers == [int(place % 10 == 0) for place in range(1, 2_001)]
    assert sum(len(some) for _, some in answering) > 2 * len(answering)  # several look as if they did


def test_each_segment_has_a_tenth_of_the_members() -> None:
    sizes = Counter(name for names in SEGMENTS_OF.values() for name in names)
    assert len(sizes) == SEGMENTS
    assert all(0.7 < size / (MEMBERS / 10) < 1.3 for size in sizes.values())


@pytest.mark.parametrize(("rides", "expected"), [(0, 0), (1, 1), (10, 1), (11, 2), (2_000, 200)])
def test_how_many_earn(rides: int, expected: int) -> None:
    assert earning(rides) == expected
