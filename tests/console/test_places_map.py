"""The map of a country, and what is on offer where somebody clicks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from abacus.platform.postgres import Pool
from abacus.signals.places.region_directory import RegionDirectory
from tests.console.campaigning import cards
from tests.console.desk import Browser, Desk, desk
from tests.support.offers import document, run_offers
from tests.support.town import load_town


@asynccontextmanager
async def town(pool: Pool) -> AsyncIterator[Desk]:
    async with desk(pool) as open_desk:
        await cards(open_desk)
        await load_town(pool, open_desk.clock)
        await open_desk.rooms[RegionDirectory].refresh()
        yield open_desk


async def seen(browser: Browser, asked: str) -> dict[str, Any]:
    answer = await browser.twin(f"/places/SG/map?{asked}")
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


async def test_regions_are_drawn_the_largest_at_the_bottom_and_places_as_spots(pool: Pool) -> None:
    async with town(pool) as open_desk:
        ann = await open_desk.inside("ann", "country_editor:SG")
        page = await seen(ann, "")
        drawn = page["drawn"]["value"]
        assert [each["region"] for each in drawn["picture"]["areas"]] == ["town", "centre", "west"]
        assert sum(len(each["places"]) for each in drawn["picture"]["spots"]) == 3
        of_kind = await seen(ann, "kind=city")
        assert [each["region"] for each in of_kind["drawn"]["value"]["picture"]["areas"]] == ["town"]


async def test_a_click_tells_the_regions_and_what_a_member_is_offered_at_the_nearest_places(pool: Pool) -> None:
    gold = {"operator": "eq", "lhs": "member.tier", "rhs": "gold"}
    async with town(pool) as open_desk:
        await run_offers(
            pool,
            document(name="noodles_20", scope={"merchants": ["noodles"]}),
            document(name="centre_10", scope={"regions": ["centre"]}),
            document(name="tanjong_5", scope={"places": ["tanjong"]}),
            document(name="bread_there", scope={"merchants": ["bread"], "places": ["tanjong"]}),
            document(name="gold_30", scope={"everything": True}, when=gold),
        )
        open_desk.clock.pass_(minutes=1)  # they were approved since the desk was opened
        ann = await open_desk.inside("ann", "country_editor:SG")
        page = await seen(ann, "middle_lat=1.3&middle_lon=103.8&span=0.1&at.x=450&at.y=300")
        found = page["found"]["value"]
        assert page["at"] == [1.3, 103.8]
        assert [each["id"] for each in found["regions"]] == ["centre", "town"]
        assert [each["id"] for each in found["places"]] == ["noodle-bar", "bakery", "tanjong"]
        offers = {each["id"]: sorted(offer.split(":")[0] for offer in each["offers"]) for each in found["places"]}
        assert offers == {"noodle-bar": ["centre_10", "noodles_20"], "bakery": ["centre_10"], "tanjong": ["tanjong_5"]}
        assert [each["is_open"] for each in found["places"]] == [True, None, False]


async def test_what_a_member_would_get_at_a_place_has_the_offers_there(pool: Pool) -> None:
    async with town(pool) as open_desk:
        await run_offers(
            pool,
            document(name="noodles_20", scope={"merchants": ["noodles"]}),
            document(name="centre_10", scope={"regions": ["centre"]}),
            document(name="tanjong_5", scope={"places": ["tanjong"]}),
        )
        open_desk.clock.pass_(minutes=1)
        ann = await open_desk.inside("ann", "country_editor:SG")

        async def looked(asked: str) -> dict[str, Any]:
            answer = await ann.twin(f"/offers-preview?country=SG&price=12&{asked}")
            page: dict[str, Any] = answer.json()
            return page

        for typed in ("noodle-bar", "noodle"):
            found = (await looked(f"place={typed}"))["found"]["value"]
            assert {each["name"] for each in found["given"]} == {"noodles_20", "centre_10"}
        assert (await looked("place=nood&merchant=bread"))["form"]["wrong"] == {"merchant": "The place is of noodles."}
        several = (await looked("place=a"))["form"]["wrong"]["place"]
        assert several == "Write which one: bakery (Bakery), noodle-bar (Noodle Bar), tanjong (Tanjong)"
        assert "no place of this id" in (await looked("place=harbour"))["form"]["wrong"]["place"]


async def test_outside_of_all_regions_the_nearest_one_is_told(pool: Pool) -> None:
    async with town(pool) as open_desk:
        ann = await open_desk.inside("ann", "country_editor:SG")
        found = (await seen(ann, "lat=1.3&lon=103.69"))["found"]["value"]
        assert (found["regions"], found["nearest"]["id"]) == ([], "town")
        assert 1_000 < found["metres"] < 1_200


async def test_in_the_pond_of_a_region_is_outside_of_it(pool: Pool) -> None:
    async with town(pool) as open_desk:
        ann = await open_desk.inside("ann", "country_editor:SG")
        found = (await seen(ann, "lat=1.29&lon=103.86"))["found"]["value"]
        assert [each["id"] for each in found["regions"]] == ["town"]


async def test_a_point_that_is_none_is_told_at_once(pool: Pool) -> None:
    async with town(pool) as open_desk:
        ann = await open_desk.inside("ann", "country_editor:SG")
        answer = await ann.twin("/places/SG/map?lat=103.8&lon=1.3")
        assert answer.status_code == 422
        assert "swapped" in answer.json()["fault"]


async def test_the_map_of_another_country_is_closed(pool: Pool) -> None:
    async with town(pool) as open_desk:
        ida = await open_desk.inside("ida", "country_editor:ID")
        assert (await ida.twin("/places/SG/map")).status_code == 403
