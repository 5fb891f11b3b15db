"""What waits and rules of journeys look up, read from the slices of the members."""

from abacus.engage.journeys.decide.sides import MEMBER_ZONE
from abacus.engage.journeys.facts import JourneySubject, ZoneFacts
from abacus.engage.notify.preferences import PreferenceStore
from abacus.platform.postgres import Pool
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
