"""Rules are judged by the regions in force: a name that no region has is a fault, with its path."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from abacus.core.clock import SystemClock
from abacus.core.fields import DocumentFaults
from abacus.engage.campaigns.decide.campaign_choices import campaign_choices
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.journeys.decide.journey_choices import journey_choices
from abacus.engage.journeys.decide.journey_reader import parse_journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.platform.postgres import Pool, nothing_else
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.decide.definition_form import counter_choices
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.places.decide.region import Region, Ring
from abacus.signals.places.region_ids import region_ids_now
from abacus.signals.places.region_store import Loading, RegionStore
from tests.support.campaigns import document, publications
from tests.support.editions import edition_of

SOURCES: Final = {
    **publications().sources,
    **{each.name: each for each in built_in(transactions_topic="t", points_topic="p", tiers_topic="r")},
}
AROUND: Final = replace(publications(), sources=SOURCES, regions={"mall", "park"})
ENTERED: Final = ["places/place.entered"]
COUNTER: Final[dict[str, Any]] = {"id": 7, "name": "visits", "template": "visits:{member_id}", "on": ENTERED}
JOURNEY: Final[dict[str, Any]] = {
    "name": "welcome",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "begin": "done",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": "2026-12-01T00:00:00+08:00",
    "nodes": {"done": {"exit": "through"}},
}


def lies_in(name: str) -> dict[str, Any]:
    return {"operator": "eq", "lhs": f"place.{name}", "rhs": "mall" if name == "region" else True}


def faults_of(when: dict[str, Any], on: Sequence[str] = ENTERED) -> list[list[str]]:
    """Of a campaign, a counter and a journey with this rule."""
    found = []
    for read in (
        lambda: parse_campaign(document(on=list(on), when=when), AROUND),
        lambda: parse_definition({**COUNTER, "on": list(on), "when": when}, SOURCES, AROUND.regions),
        lambda: parse_journey({**JOURNEY, "entry": {"on": list(on), "when": when}}, JourneyPublications(AROUND)),
    ):
        try:
            read()
        except DocumentFaults as error:
            found.append([str(each) for each in error.faults if each.path.endswith("lhs")])
        else:
            found.append([])
    return found


@pytest.mark.parametrize("name", ["region", "mall", "park"])
def test_rules_ask_for_regions(name: str) -> None:
    assert faults_of(lies_in(name)) == [[], [], []]


def test_an_unknown_region_is_a_fault_with_its_path() -> None:
    wrong = "no region 'mal' is defined; did you mean mall?"
    assert faults_of(lies_in("mal")) == [
        [f"when.lhs: {wrong}"],
        [f"when.lhs: {wrong}"],
        [f"entry.when.lhs: {wrong}"],
    ]
    (fault,) = faults_of(lies_in("x"))[0]
    assert fault.endswith("`abacus places regions list` prints what there is")


def test_events_that_say_nowhere_where_they_happened_have_no_place() -> None:
    wrong = "the events of transactions have no place; the fields lat and lon of that source have to name it"
    faults = faults_of(lies_in("mall"), ["transactions/transaction.completed"])
    assert [each[0].partition(": ")[2] for each in faults if each] == [wrong] * 3


def test_editors_are_offered_what_there_is() -> None:
    offered = [
        campaign_choices(document(on=ENTERED), AROUND),
        counter_choices({**COUNTER}, CounterPublications(SOURCES, AROUND.regions)),
        journey_choices({**JOURNEY, "entry": {"on": ENTERED}}, JourneyPublications(AROUND)),
    ]
    for each in offered:
        assert {text: side.type for text, side in each.sides.items() if text.startswith("place.")} == {
            "place.region": "text",
            "place.mall": "boolean",
            "place.park": "boolean",
        }


def square(west: float) -> Ring:
    return ((west, 0.0), (west + 1, 0.0), (west + 1, 1.0), (west, 1.0), (west, 0.0))


async def load(pool: Pool, country: str, *ids: str, waits: bool = False) -> None:
    regions = [Region(id_, id_, "zone", 0, country, ((square(place * 2.0),),)) for place, id_ in enumerate(ids)]
    loading = Loading("person:ann", SystemClock().now(), waits)
    await RegionStore(pool).load(edition_of(country, regions), loading, nothing_else)


async def test_they_are_the_regions_in_force(pool: Pool) -> None:
    assert await region_ids_now(pool) == set()
    await load(pool, "SG", "a", "c")
    await load(pool, "ID", "b")
    await load(pool, "SG", "d", waits=True)
    for _ in range(2):  # the second time from memory
        assert await region_ids_now(pool) == {"a", "b", "c"}
    await load(pool, "SG", "c")
    assert await region_ids_now(pool) == {"b", "c"}
