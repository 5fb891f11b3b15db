"""What waits and rules of journeys look up, from the slices of the members and from the sets of segments."""

from collections.abc import Collection, Mapping

from abacus.engage.journeys.decide.sides import MEMBER_ZONE
from abacus.engage.journeys.facts import JourneySubject, NumberedSegmentFacts, ZoneFacts
from abacus.engage.notify.preferences import PreferenceStore
from abacus.platform.postgres import Pool
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.rules.decide.types import looked_up
from abacus.signals.segments.sets import Pair
from abacus.signals.segments.types import Members
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import journey
from tests.support.fixed_clock import FixedClock


async def test_the_zones_that_members_have_named(pool: Pool) -> None:
    preferences = PreferenceStore(pool, FixedClock(NOW))
    await preferences.set("ann", locale=None, channels=None, zone="Europe/London", by="acme")
    await preferences.set("bob", locale="id", channels=None, by="acme")
    await preferences.set("cy", locale=None, channels=None, zone="Asia/Tokyo", by="acme")
    subjects = [
        JourneySubject(each, order(1, each), "GRP", NOW, journey().zone) for each in ("cy", "bob", "ann", "dee")
    ]
    found = await ZoneFacts(pool).load([(each, MEMBER_ZONE) for each in subjects])
    assert found == ["Asia/Tokyo", None, "Europe/London", None]


class Held:
    """Segments by their names."""

    def __init__(self, **segments: set[int]) -> None:
        self._segments = segments

    async def look(self, pairs: Collection[Pair]) -> dict[Pair, bool]:
        raise NotImplementedError("members are looked for by their numbers")

    async def sets(self, names: Collection[str]) -> Mapping[str, Members]:
        return {name: Members(self._segments[name]) for name in names}


async def test_members_of_the_same_segments_are_told_alike() -> None:
    """Whose number is not known is in none."""
    sides = [looked_up(SEGMENT, f"segment.{name}", VariableType.BOOLEAN) for name in ("new", "gone")]
    numbers = [7, 1, None, 2, 7, 3, 9]
    subjects = [
        JourneySubject(f"m{each}", order(1, f"m{each}"), "GRP", NOW, journey().zone, number=each) for each in numbers
    ]
    found = await NumberedSegmentFacts(Held(new={1, 2, 3}, gone={2, 3, 9})).load_for_all(subjects, sides)
    told = {(values["segment.new"], values["segment.gone"]): places for values, places in found}
    assert told == {(False, False): [0, 2, 4], (True, False): [1], (True, True): [3, 5], (False, True): [6]}
    assert len(found) == 4
