"""Partners load places and regions of their countries, each fault told where it stands."""

import json
from typing import Any

import pytest

from tests.support.house import House
from tests.support.shop import register, shop

pytestmark = pytest.mark.long

PLACE: dict[str, Any] = {"id": "s1", "name": "S1", "country": "SG", "merchant": "m1", "lat": 1.3, "lon": 103.8}


def region(id_: str, west: float, **about: Any) -> dict[str, Any]:
    ring = [[west, 1.2], [west + 0.1, 1.2], [west + 0.1, 1.3], [west, 1.3], [west, 1.2]]
    about = {"id": id_, "name": id_.title(), "kind": "zone", "country": "SG", **about}
    return {"type": "Feature", "properties": about, "geometry": {"type": "Polygon", "coordinates": [ring]}}


def regions(*features: dict[str, Any]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}


async def test_a_partner_loads_places_and_regions(house: House) -> None:
    key = await register(house, may_load_places=True, countries=("SG",))
    async with shop(house) as opened:
        caller = await opened.caller(key)
        first = await caller.post("/v1/places", json={"places": [PLACE, {**PLACE, "id": "s2"}]})
        assert (first.status_code, first.json()) == (200, {"new": 2, "changed": 0, "unchanged": 0, "version": 1})
        again = await caller.post("/v1/places", json={"places": [{**PLACE, "name": "Other"}, {**PLACE, "id": "s2"}]})
        assert again.json() == {"new": 0, "changed": 1, "unchanged": 1, "version": 2}
        bad = await caller.post("/v1/places", json={"places": [PLACE, {**PLACE, "lat": 91}, 7, PLACE]})
        assert bad.status_code == 422
        assert {"/places/1/lat", "/places/2/id", "/places/3/id"} <= {each["pointer"] for each in bad.json()["errors"]}
        elsewhere = await caller.post("/v1/places", json={"places": [{**PLACE, "country": "MY", "id": "m1"}]})
        assert elsewhere.json()["type"] == "/problems/country-not-allowed"
        zones = regions(*(region(f"zone-{each}", 103.0 + each / 10) for each in range(20)))
        loaded = await caller.post("/v1/places/regions", json=zones)
        assert loaded.json() == {
            "country": "SG",
            "edition": 1,
            "added": 20,
            "changed": 0,
            "removed": 0,
            "approval_id": None,
        }
        much = await caller.post("/v1/places/regions", json=regions(region("zone-1", 103.1)))
        waiting = much.json()
        assert (waiting["edition"], waiting["removed"]) == (2, 19)
        assert waiting["approval_id"] is not None  # a person has to agree
        both = regions(region("new", 103.0), region("kl", 101.0, country="MY"))
        mixed = await caller.post("/v1/places/regions", json=both)
        told = (mixed.status_code, mixed.json()["detail"])
        assert told == (422, "regions of MY, SG; load each country by itself")
        abroad = {"type": "Feature", "properties": {"country": "MY"}}
        foreign = await caller.post("/v1/places/regions", json=regions(abroad))
        assert foreign.json()["type"] == "/problems/country-not-allowed"  # before anything else of the file is read
        faulty = await caller.post("/v1/places/regions", json=regions({"type": "Feature"}))
        assert faulty.status_code == 422
        for name in ("1" + "0" * 30, r'"\ud800"'):
            body = json.dumps(zones).replace('"Zone-1"', name).encode()
            odd = await caller.post("/v1/places/regions", content=body, headers={"content-type": "application/json"})
            assert odd.status_code == 422, odd.text
        stranger = await opened.caller(await register(house, "other"))
        refused = await stranger.post("/v1/places", json={"places": [PLACE]})
        assert refused.json()["type"] == "/problems/places-not-allowed"
