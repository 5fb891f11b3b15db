"""What is near a point over HTTP: the query is read strictly, before the framework as by it."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from abacus.api import problems
from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Access, Call
from abacus.api.front import Front
from abacus.api.hot import HotRoutes
from abacus.api.nearby import routes
from abacus.api.nearby.asked import nearby_of, point_of
from abacus.engage.offers.decide.offer import Scope as OfferScope
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Noted
from abacus.platform.rooms import Rooms
from abacus.signals.places.decide.place_index import Sought
from tests.engage.nearby.served import CENTRE_ONLY, served
from tests.engage.offers.examples import NOW, PERCENT, benefit, offer
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once

DIGITS = "1." + "3" * 400
PARTNER = Partner(
    partner_id="shop",
    name="Shop",
    fixed_points=False,
    computed_points=False,
    countries=("SG",),
    card_scope=None,
    requests_per_minute=60,
    signing_secret=None,
    created_at=NOW,
    created_by="ops",
    disabled_at=None,
    may_use_offers=True,
)


def test_what_is_asked() -> None:
    sought = b"k=3&radius=900&open=true&merchant=m%201&brand=a+b&category=food"
    asked = nearby_of(b"lat=1.30480000000001&lon=103.8318&" + sought)
    assert (asked.k, asked.radius_m, asked.open_now, asked.member_id) == (3, 900, True, None)
    assert asked.sought == Sought("m 1", "a b", "food")
    assert point_of(b"lat=-0&lon=180") == (-180.0, 0.0)


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        (b"lat=91&lon=103", {"query/lat": "it is not between -90 and 90"}),
        (b"lat=103.8&lon=1.3", {"query/lat": "it is not between -90 and 90; latitude and longitude look swapped"}),
        (b"lat=NaN&lon=inf", {"query/lat": "it is no decimal", "query/lon": "it is no decimal"}),
        (b"lat=1.3", {"query/lon": "missing"}),
        (b"", {"query/lat": "missing", "query/lon": "missing"}),
        (b"lat=1.3&lat=1.4&lon=103", {"query/lat": "it stands twice"}),
        (b"lat=1.3&l%61t=1.4&lon=103", {"query/lat": "it stands twice"}),
        (f"lat={DIGITS}&lon=103".encode(), {"query/lat": "it is no decimal"}),
        (b"lat=1e0&lon=103", {"query/lat": "it is no decimal"}),
        (b"lat=%ff&lon=\xc3\xa9", {"query/lat": "is no decimal", "query/lon": "is no decimal"}),
        (b"lat=1.3&lon=103&utm=x", {"query/utm": "unknown"}),
        (b"1.3,103", {"query": "a name that is no word", "query/lat": "missing", "query/lon": "missing"}),
        (b"lat=1.3&lon=103&k=51", {"query/k": "'51' is no whole number from 1 to 50"}),
        (b"lat=1.3&lon=103&radius=0", {"query/radius": "'0' is no whole number from 1 to 50,000"}),
        (b"lat=1.3&lon=103&open=1", {"query/open": "'1'; write true or false"}),
        (b"lat=1.3&lon=103&merchant=", {"query/merchant": "'' is no text of 1 to 200 characters"}),
        (b"lat=1.3&lon=103&member_id=a%00", {"query/member_id": "is no id of a member"}),
        (b"&".join([b"lat=1"] * 100), {"query": "100 parameters"}),
    ],
)
def test_what_is_wrong_is_told_by_its_name(query: bytes, faults: dict[str, str]) -> None:
    with pytest.raises(ApiProblem) as caught:
        nearby_of(query)
    told = {each.pointer: each.detail for each in caught.value.errors}
    assert (caught.value.status, told.keys()) == (422, faults.keys())
    assert all(words in told[name] for name, words in faults.items())


def application(partner: Partner, *, hot: bool, journal: RequestJournal | None = None) -> ASGIApp:
    at = served(offer(2, benefit(PERCENT, "20"), scope=OfferScope(everything=True, values=CENTRE_ONLY)))
    access = cast("Access", _Open(Rooms(at.nearby, at.offers.of_members)))
    app = FastAPI()
    problems.install(app)
    app.router.routes.extend(routes.router.routes)
    inner: ASGIApp = HotRoutes(app, {}, (), routes.HOT) if hot else app

    async def let_in(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] |= {"call": Call(partner, access), "partner_id": partner.partner_id, "mode": "live"}
        await inner(scope, receive, send)

    return Front(let_in, journal)


class _Open:
    """In place of an `Access`: what is open to the partner."""

    def __init__(self, rooms: Rooms) -> None:
        self.rooms = rooms


@pytest.fixture(params=[True, False], ids=["hot", "by the framework"])
async def desk(request: pytest.FixtureRequest) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(application(PARTNER, hot=request.param)), base_url="http://places"
    ) as client:
        yield client


async def test_what_is_near_and_who_may_keep_it(desk: httpx.AsyncClient) -> None:
    near = await desk.get("/v1/nearby?lat=1.5&lon=103.4&k=1&radius=20000")
    (only,) = near.json()["places"]
    assert only.pop("offers") == [
        {
            "offer": "offer_2",
            "version": 1,
            "about": "",
            "saves": "4.00",
            "currency": "SGD",
            "until": "2026-12-31T00:00:00Z",
            "points": 32,
        }
    ]
    assert only == {"id": "s2", "name": "S2", "distance_m": 10004, "open": None, "offers_in_all": 1, "earns": "2"}
    assert near.json()["regions"] == ["centre", "sg"]
    assert near.headers["cache-control"] == "public, max-age=5, stale-while-revalidate=25"
    again = await desk.get(str(near.request.url), headers={"If-None-Match": near.headers["etag"]})
    assert (again.status_code, again.content, again.headers["vary"]) == (304, b"", "Authorization")
    mine = await desk.get("/v1/nearby?lat=1.5&lon=103.4&member_id=bob")
    assert mine.headers["cache-control"].startswith("private")
    categories = (await desk.get("/v1/nearby/categories?lat=1.5&lon=103.4")).json()
    assert categories["categories"] == [{"category": "food", "places": 2}, {"category": "noodles", "places": 2}]
    assert (await desk.get("/v1/regions/at?lat=1.5&lon=103.5")).json() == {"regions": ["east", "sg"]}
    outside = (await desk.get("/v1/regions/at?lat=1.5&lon=102.9")).json()
    assert outside == {"regions": [], "nearest": {"id": "sg", "distance_m": 5558}}


async def test_a_cache_in_front_learns_what_a_request_means(desk: httpx.AsyncClient) -> None:
    async def meaning(path: str, lon: str) -> str | None:
        answer = await desk.head(f"{path}?lat=1.5&lon={lon}")
        assert (answer.status_code, answer.content, answer.headers["cache-control"]) == (200, b"", "no-store")
        told: str | None = answer.headers.get("abacus-meaning")
        return told

    for path in ("/v1/regions/at", "/v1/nearby/categories"):
        centre = await meaning(path, "103.1")
        assert centre is not None
        assert await meaning(path, "103.49999999999") == centre
        assert await meaning(path, "103.5") not in (None, centre)
        assert (await desk.head(f"{path}?lat=91&lon=103")).status_code == 422
    assert await meaning("/v1/regions/at", "103.1") != await meaning("/v1/nearby/categories", "103.1")


async def test_a_caller_who_knows_of_a_version_has_no_older_answer(desk: httpx.AsyncClient) -> None:
    for path in ("/v1/nearby", "/v1/nearby/categories"):
        known = await desk.get(f"{path}?lat=1.5&lon=103.4&at_least=0")
        assert known.json() == (await desk.get(f"{path}?lat=1.5&lon=103.4")).json()
        ahead = await desk.get(f"{path}?lat=1.5&lon=103.4&at_least=1")
        assert (ahead.status_code, ahead.headers["cache-control"]) == (422, "no-store")
        assert ahead.json()["errors"] == [{"pointer": "query/at_least", "detail": "version 1 is not laid out"}]
        assert (await desk.get(f"{path}?lat=1.5&lon=103.4&at_least=-1")).status_code == 422
    assert (await desk.head("/v1/nearby/categories?lat=1.5&lon=103.4&at_least=1")).status_code == 422
    assert (await desk.get("/v1/regions/at?lat=1.5&lon=103.4&at_least=0")).status_code == 422


async def test_what_is_refused_is_kept_by_nobody(desk: httpx.AsyncClient) -> None:
    refused = await desk.get("/v1/nearby?lat=91&lon=103")
    assert (refused.status_code, refused.headers["cache-control"]) == (422, "no-store")
    assert refused.json()["errors"] == [{"pointer": "query/lat", "detail": "it is not between -90 and 90"}]
    assert (await desk.head("/v1/nearby?lat=1.5&lon=103.4")).status_code == 405
    assert (await desk.post("/v1/nearby")).status_code == 405


class _Kept(RequestStore):
    """Keeps requests in memory."""

    def __init__(self) -> None:
        self.kept: list[Noted] = []

    async def add(self, noted: Sequence[Noted]) -> None:
        self.kept += noted

    async def forget(self, before: datetime) -> None:
        self.kept = [each for each in self.kept if each.at >= before]


async def test_where_somebody_is_stands_in_no_refusal_and_not_in_the_journal() -> None:
    store = _Kept()
    journal = RequestJournal(store, FixedClock(NOW))
    transport = httpx.ASGITransport(application(PARTNER, hot=True, journal=journal))
    async with httpx.AsyncClient(transport=transport, base_url="http://places") as client:
        for query in (
            "lat=103.8318&lon=1.3048",
            "lat=1.3048%C2%B0N&lon=103.8318E",
            "1.3048,103.8318",
            "1.3048=103.8318",
        ):
            refused = await client.get(f"/v1/nearby?{query}")
            assert refused.status_code == 422
            assert not any(degrees in refused.text for degrees in ("1.3048", "103.8318")), query
    await journal.write()
    assert len(store.kept) == 4
    assert not any(degrees in repr(each) for each in store.kept for degrees in ("1.3048", "103.8318"))


async def test_a_partner_without_the_right_is_refused_and_sees_its_countries_only() -> None:
    async def asked(partner: Partner, path: str = "/v1/nearby") -> Any:
        transport = httpx.ASGITransport(application(partner, hot=True))
        async with httpx.AsyncClient(transport=transport, base_url="http://places") as client:
            return (await client.get(f"{path}?lat=1.5&lon=103.4")).json()

    assert (await asked(PARTNER._replace(may_use_offers=False)))["type"] == "/problems/offers-not-allowed"
    elsewhere = PARTNER._replace(countries=("MY",))
    assert await asked(elsewhere) == {"regions": [], "places": [], "degraded": False}
    assert await asked(elsewhere, "/v1/regions/at") == {"regions": []}
