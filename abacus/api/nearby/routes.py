"""The routes about a point: what is near, what is on offer in its regions, and these regions themselves."""

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import Call, PersonCall
from abacus.api.cache_headers import Caching
from abacus.api.hot import HotRead, Page
from abacus.api.lean import LeanRoute
from abacus.api.nearby.asked import LATEST, CategoriesAsk, categories_of, nearby_of, point_of
from abacus.api.nearby.told import (
    CategoriesAnswer,
    NearbyAnswer,
    RegionsAnswer,
    around_told,
    categories_told,
    regions_told,
)
from abacus.api.problems import invalid
from abacus.api.route_description import answered, described
from abacus.core.errors import Refused
from abacus.core.ids import ID_PATTERN
from abacus.engage.nearby.decide.ask import MaySee, NearbyAsk
from abacus.engage.nearby.nearby import Nearby
from abacus.engage.nearby.offers_here import MembersHere
from abacus.people.types.deed import Deed
from abacus.signals.places.decide.place_index import FARTHEST_M, MOST_K, USUAL_K, USUAL_RADIUS_M
from abacus.signals.places.decide.point import Point

router = APIRouter(prefix="/v1", tags=["nearby"], route_class=LeanRoute, default_response_class=Response)

_DECIMALS: Final = "a plain decimal of 20 decimals at most"


def _parameter(name: str, about: str, schema: dict[str, Any], *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": required, "description": about, "schema": schema}


def _degrees(name: str, towards: str, end: int, example: float) -> dict[str, Any]:
    schema = {"type": "number", "minimum": -end, "maximum": end, "examples": [example]}
    return _parameter(name, f"Degrees {towards}, {_DECIMALS}.", schema, required=True)


def _whole(name: str, about: str, most: int, usual: int) -> dict[str, Any]:
    return _parameter(name, about, {"type": "integer", "minimum": 1, "maximum": most, "default": usual})


def _text(name: str, about: str) -> dict[str, Any]:
    return _parameter(name, about, {"type": "string", "minLength": 1, "maxLength": 200})


_POINT: Final = (_degrees("lat", "north", 90, 1.3048), _degrees("lon", "east", 180, 103.8318))
_SOUGHT: Final = (
    _whole("k", "The most places.", MOST_K, USUAL_K),
    _whole("radius", "Metres, within which they are.", FARTHEST_M, USUAL_RADIUS_M),
    _parameter("open", "Whether only places that are open now.", {"type": "boolean", "default": False}),
    _text("merchant", "Only of this merchant."),
    _text("brand", "Only of this brand."),
    _text("category", "Only of this category."),
    _parameter("member_id", "Who asks; otherwise anybody.", {"type": "string", "pattern": ID_PATTERN}),
)
_AT_LEAST: Final = _parameter(
    "at_least",
    "The version that loading places answered: the answer has all of it.",
    {"type": "integer", "minimum": 0, "maximum": LATEST, "default": 0},
)
_MEANING: Final[dict[str, Any]] = {
    "summary": "Ask what a request means",
    "description": "For a cache in front: requests with one `Abacus-Meaning` have one answer.",
    "responses": answered({200: (None, "The meaning is a header; what is private has none")}, 422),
}


async def nearby_told(call: Call | PersonCall, ask: NearbyAsk) -> Page:
    may_see, nearby = _may_see(call), call.rooms[Nearby]
    await _reach(nearby, ask.at_least)
    around = await nearby.around(ask, may_see, call.rooms[MembersHere])
    return Page(around_told(around), around.age_s)


async def categories_answer(call: Call | PersonCall, ask: CategoriesAsk) -> Page:
    may_see, nearby = _may_see(call), call.rooms[Nearby]
    await _reach(nearby, ask.at_least)
    found = await nearby.categories(ask.point, may_see)
    return Page(categories_told(found), found.age_s)


async def regions_of(call: Call | PersonCall, point: Point) -> Page:
    return Page(regions_told(call.rooms[Nearby].where(point, _may_see(call))))


@router.get(
    "/nearby",
    summary="Ask what is near a point",
    responses=answered({200: (NearbyAnswer, "The places from the nearest on")}, 422),
    openapi_extra=described(*_POINT, *_SOUGHT, _AT_LEAST),
)
async def nearby(request: Request) -> Response:
    """The regions of the point, the nearest places with the best offers there and what a purchase earns. Offers are
    ranked by what they save on a typical purchase of the country. With a member, its offers; these are in no cache.
    """
    return await _response(request)


@router.head("/nearby/categories", openapi_extra=described(*_POINT, _AT_LEAST), **_MEANING)
@router.get(
    "/nearby/categories",
    summary="Ask what is on offer in the regions of a point",
    responses=answered({200: (CategoriesAnswer, "Categories and brands, with the number of places")}, 422),
    openapi_extra=described(*_POINT, _AT_LEAST),
)
async def categories(request: Request) -> Response:
    """The categories and brands of places that have something on offer for everybody. A place is counted that lies in
    the same regions as the point. Outside of all regions there is nothing, and the nearest region is told.
    """
    return await _response(request)


@router.head("/regions/at", openapi_extra=described(*_POINT), **_MEANING)
@router.get(
    "/regions/at",
    summary="Ask for the regions of a point",
    responses=answered({200: (RegionsAnswer, "The ids of the regions")}, 422),
    openapi_extra=described(*_POINT),
)
async def regions_at(request: Request) -> Response:
    """The regions that the point lies in. A point on a border of two lies in exactly one of them."""
    return await _response(request)


# What changes is seen here at once; a cache in front hears of it when it asks again.
_CACHING: Final = Caching(5, 25, is_public=True)
HOT: Final[Mapping[str, HotRead[Any]]] = {
    "/v1/nearby": HotRead(nearby_of, nearby_told, _CACHING),
    "/v1/nearby/categories": HotRead(categories_of, categories_answer, _CACHING, tells_meaning=True),
    "/v1/regions/at": HotRead(point_of, regions_of, _CACHING, tells_meaning=True),
}


async def _response(request: Request) -> Response:
    status, headers, body = await HOT[request.scope["path"]].told(request.scope)
    return Response(body, status, headers={name.decode(): value.decode() for name, value in headers})


async def _reach(nearby: Nearby, version: int) -> None:
    """Raises `ApiProblem` where there is no such version of the places."""
    try:
        await nearby.reach(version)
    except Refused as error:
        raise invalid([FieldFault(pointer="query/at_least", detail=str(error))]) from None


def _may_see(call: Call | PersonCall) -> MaySee:
    """Whether it may see a country. Raises `ApiProblem` for a caller who may not ask at all."""
    if isinstance(call, Call):
        if not call.partner.may_use_offers:
            raise ApiProblem("offers-not-allowed")
    else:
        call.check_somewhere(Deed.SEE)
    return lambda country: call.is_open(Deed.SEE, country)
