"""What is near a point is exact, and what is on offer there is what an offer's conditions say."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.nearby.decide.ask import Around, NearbyAsk
from abacus.engage.nearby.decide.meaning import Meaning
from abacus.engage.nearby.decide.notes import Note
from abacus.engage.nearby.decide.territory import Territory
from abacus.engage.nearby.nearby import ROUTE as CATEGORIES_ROUTE
from abacus.engage.nearby.offers_here import ManyHere, MembersHere
from abacus.engage.offers.decide.offer import Audience, Benefit, Scope
from abacus.platform.metrics import CACHE_BYTES
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_index import Sought
from tests.engage.nearby.served import (
    BORDER,
    CENTRE_ONLY,
    NEAR_BORDER,
    PLACES,
    REGIONS,
    Served,
    place,
    regions,
    served,
    square,
)
from tests.engage.offers.examples import EVERYTHING, NOW, PERCENT, offer, within

pytestmark = pytest.mark.once

TENTH: Final = Benefit(PERCENT, Decimal(10))
FIFTH: Final = Benefit(PERCENT, Decimal(20))
ALL: Final = offer(1, TENTH)
CENTRE: Final = offer(2, FIFTH, scope=Scope(everything=True, values=CENTRE_ONLY))
NOODLES_IN_CENTRE: Final = offer(
    3, FIFTH, scope=Scope(values=within("category noodles", "region centre"), excepted=within("place s1"))
)


async def around(at: Served, ask: NearbyAsk = NEAR_BORDER) -> Around:
    return await at.nearby.around(ask, lambda _: True, at.offers.of_members)


def shown(found: Around) -> list[dict[str, Any]]:
    """What the answer says of each place."""
    return [json.loads(b"{%b,%b}" % (each.written, each.here.written)) for each in found.places]


def ids(found: Around) -> list[str]:
    return [each["id"] for each in shown(found)]


def names(found: Around) -> list[tuple[str, list[str], int]]:
    return [(each["id"], [one["offer"] for one in each["offers"]], each["offers_in_all"]) for each in shown(found)]


async def test_offers_of_a_region_are_at_its_places_and_not_across_its_border() -> None:
    found = await around(served(ALL, CENTRE))
    assert (found.where.regions, found.is_degraded) == (("east", "sg"), False)
    assert names(found) == [("s3", ["offer_1"], 1), ("s2", ["offer_2", "offer_1"], 2), ("s4", ["offer_1"], 1)]
    assert [round(each.metres) for each in found.places] == [0, 1112, 1112]
    assert [each["earns"] for each in shown(found)] == ["1", "2", None]


async def test_a_scope_of_items_and_regions_holds_for_both_and_not_where_it_is_excepted() -> None:
    found = await around(served(NOODLES_IN_CENTRE), NearbyAsk((103.3, 1.5), radius_m=50_000))
    assert {id_: offers for id_, offers, _ in names(found)} == {
        "s1": [],
        "s2": ["offer_3"],
        "s3": [],
        "s4": [],
        "s5": [],
    }


async def test_few_are_shown_of_many_the_best_first() -> None:
    many = [offer(each, Benefit(PERCENT, Decimal(each))) for each in range(1, 8)]
    (first, *_) = names(await around(served(*many)))
    assert first == ("s3", ["offer_7", "offer_6", "offer_5"], 7)


async def test_a_member_has_its_own_offers_and_who_is_away_those_for_everybody() -> None:
    invited = replace(ALL, audience=Audience.INVITATION)
    at = served(invited, CENTRE)
    found = await around(at, NEAR_BORDER._replace(member_id="bob"))
    assert [count for _, _, count in names(found)] == [0, 1, 0]


async def test_what_is_sought_is_kept() -> None:
    at = served()
    found = await around(at, NEAR_BORDER._replace(sought=Sought(merchant="m2")))
    assert ids(found) == ["s3", "s4"]
    at.ground.put(place("s6", BORDER, hours="Mo-Su 08:00-10:00"))
    opened = await around(at, NEAR_BORDER._replace(open_now=True))
    assert opened.places == []  # it is eight in the evening there
    at.clock.set(NOW - timedelta(hours=11))
    opened = await around(at, NEAR_BORDER._replace(open_now=True))
    assert (ids(opened), [each.is_open for each in opened.places]) == (["s6"], [True])
    assert (await at.nearby.around(NEAR_BORDER, lambda _: False, at.offers.of_members)).places == []


async def test_outside_of_all_regions_the_nearest_one_is_told() -> None:
    at = served(ALL)
    found = await around(at, NearbyAsk((102.9, 1.5), k=1))
    assert (found.where.regions, ids(found)) == ((), ["s5"])
    assert found.where.nearest is not None
    region, metres = found.where.nearest
    assert (region.id, round(metres)) == ("sg", 5558)
    here = await at.nearby.categories((102.9, 1.5), lambda _: True)
    assert (here.where, here.on_offer.categories) == (found.where, ())


async def test_regions_are_told_of_countries_that_the_caller_may_see() -> None:
    at = served(ALL)
    at.ground.redraw(*REGIONS, square("johor", 102.0, 103.2, 9, country="MY"))
    everywhere, at_home = (lambda _: True), (lambda country: country == "SG")
    assert at.nearby.where((103.1, 1.5), everywhere).regions == ("johor", "centre", "sg")
    assert at.nearby.where((103.1, 1.5), at_home) == (("centre", "sg"), None)
    nearest = at.nearby.where((102.9, 1.5), at_home).nearest
    assert nearest is not None
    assert (nearest[0].id, round(nearest[1])) == ("sg", 5558)
    assert at.nearby.where((102.9, 1.5), lambda _: False) == ((), None)
    here = await at.nearby.categories((103.2, 1.5), at_home)
    assert (here.where.regions, here.on_offer.categories) == (("centre", "sg"), (("food", 2), ("noodles", 2)))


class _Meanwhile(MembersHere):
    """Other regions come into force while a member's offers are read."""

    def __init__(self, at: Served) -> None:
        super().__init__(at.offers, at.qualifier)
        self._ground = at.ground

    async def told(self, meanings: Sequence[Meaning | None], member_id: str) -> ManyHere:
        here = await super().told(meanings, member_id)
        self._ground.redraw(square("island", 102.0, 104.0))
        return here


async def test_an_answer_is_of_one_edition_of_the_regions() -> None:
    at = served(ALL, CENTRE)
    ask = NearbyAsk((103.3, 1.5), k=1, radius_m=50_000, member_id="bob")
    found = await at.nearby.around(ask, lambda _: True, _Meanwhile(at))
    assert (found.where.regions, names(found)) == (("centre", "sg"), [("s1", ["offer_2", "offer_1"], 2)])
    assert (await around(at, ask)).where.regions == ("island",)


async def test_categories_and_brands_are_counted_where_something_is_on_offer() -> None:
    at = served(offer(1, TENTH, scope=Scope(values=within("merchant m1"))))
    centre = await at.nearby.categories((103.3, 1.5), lambda _: True)
    assert (centre.on_offer.categories, centre.on_offer.brands) == ((("food", 2), ("noodles", 2)), (("b1", 2),))
    assert (await at.nearby.categories((BORDER, 1.5), lambda _: True)).on_offer.categories == ()
    assert (await at.nearby.categories((103.3, 1.5), lambda _: False)).on_offer.categories == ()


async def test_places_that_mean_the_same_make_an_answer_no_larger() -> None:
    at, held = served(CENTRE), _held()
    for each in range(300):
        at.ground.put(place(f"t{each}", 103.2, f"merchant-{each}"))
    centre = await at.nearby.categories((103.3, 1.5), lambda _: True)
    assert centre.on_offer.categories == (("food", 302), ("noodles", 302))
    assert _held() - held < 5_000
    at.index.put(offer(4, TENTH, scope=Scope(values=within("merchant merchant-7"))), None)
    at.index.remove(2)
    (_, noodles) = (await at.nearby.categories((103.3, 1.5), lambda _: True)).on_offer.categories
    assert noodles == ("noodles", 1)


def _held() -> float:
    """Bytes of what is kept of categories."""
    (metric,) = CACHE_BYTES.collect()
    return sum(each.value for each in metric.samples if each.labels == {"route": CATEGORIES_ROUTE})


async def test_categories_follow_from_the_typical_purchase() -> None:
    at = served(offer(1, TENTH, basket_minimum=Decimal(30)))
    assert (await at.nearby.categories((103.3, 1.5), lambda _: True)).on_offer.categories == ()
    at.ground.map = replace(at.ground.map, typical_purchase=Decimal(50))
    found = await at.nearby.categories((103.3, 1.5), lambda _: True)
    assert found.on_offer.categories == (("food", 2), ("noodles", 2))


async def test_what_is_counted_is_as_old_as_its_oldest_part() -> None:
    at = served(CENTRE)
    await around(at)
    for seconds in (20, 21):
        at.clock.set(NOW + timedelta(seconds=seconds))
        assert (await at.nearby.categories((103.3, 1.5), lambda _: True)).age_s == seconds


async def test_what_is_old_is_told_and_then_nothing_is() -> None:
    at = served(ALL)
    at.ground.age_s = 100.0
    found = await around(at)
    assert (found.age_s, found.is_degraded, len(found.places)) == (100.0, True, 3)
    at.ground.age_s = 700.0
    with pytest.raises(Unavailable, match="700 s old"):
        await around(at)
    with pytest.raises(Unavailable):
        await at.nearby.categories((103.3, 1.5), lambda _: True)


async def test_an_answer_ends_with_the_clock_and_not_before() -> None:
    happy = offer(1, TENTH, hours=((21 * 60, 22 * 60),))  # it is eight in the evening in Singapore
    ends = offer(2, TENTH, ends_at=NOW + timedelta(minutes=7))
    at = served(happy, ends, offer(3, TENTH, scope=EVERYTHING))
    told = []
    for minutes in (0, 6, 7, 59, 60, 119, 120):
        at.clock.set(NOW + timedelta(minutes=minutes))
        told.append(names(await around(at))[0][2])
    assert told == [2, 2, 1, 1, 2, 2, 1]


async def test_places_that_mean_the_same_share_an_answer() -> None:
    at = served(ALL, CENTRE)
    numbers = [at.ground.places().number_of(each.id) for each in PLACES]
    notes = at.offers.notes(at.ground.places(), [each for each in numbers if each is not None], at.ground.territory())
    s1, s2, *_ = meanings = [each.meaning for each in notes]
    assert s1 is s2
    assert len({*meanings}) == 4  # in the centre; rides and nothing in the east; outside of all


async def test_what_is_kept_beside_a_place_stands_until_something_changes_that_it_follows_from() -> None:
    at = served(ALL, CENTRE)
    number = at.ground.places().number_of("s1")
    assert number is not None

    def note() -> Note:
        (found,) = at.offers.notes(at.ground.places(), [number], at.ground.territory())
        return found

    def changed() -> bool:
        """Since it was asked last."""
        before, now = known[-1], note()
        known.append(now)
        assert note() is now
        return now is not before

    known = [note()]
    assert not changed()
    at.index.put(offer(4, FIFTH, scope=Scope(everything=True, values=CENTRE_ONLY)), None)
    assert not changed(), "an offer of whose keys others speak"
    at.index.put(offer(5, FIFTH, scope=Scope(values=within("merchant m1"))), None)
    assert changed(), "an offer that speaks of merchants of the place"
    at.ground.map = replace(at.ground.map, typical_purchase=Decimal(50))
    assert changed(), "another typical purchase"
    at.ground.redraw(*REGIONS)
    assert changed(), "another edition of the regions"
    at.ground.put(place("s1", 103.2, name="Another name"))
    assert changed()
    assert b"Another name" in known[-1].written


def test_places_of_a_territory_are_those_that_were_put_and_not_removed() -> None:
    drawn, territory = random.Random(3), Territory(regions(*REGIONS))
    left = dict[int, Place]()
    for _ in range(600):
        number = drawn.randrange(40)
        if drawn.random() < 0.4:
            was = left.pop(number, None)
            assert territory.remove(number) == (None if was is None else territory.regions_of(was))
        else:
            left[number] = place("s", drawn.choice((102.9, 103.2, 103.7)), country=drawn.choice(("SG", "MY")))
            territory.put(number, left[number])
    cells = {territory.regions_of(each) for each in left.values()}
    for cell in cells:
        there = [number for number, each in left.items() if territory.regions_of(each) == cell]
        assert sorted(territory.within(cell)) == sorted(there)
    assert {*territory.countries()} == {each.country for each in left.values()}
    assert (len(territory), [*territory.within(("nowhere",))]) == (len(left), [])
