"""The routes that load places and regions, for partners that may and for people of a country's team."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, SkipValidation
from starlette.responses import Response

from abacus.api import answers
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.api.auth import LIVE, Call, PersonCall, caller_of
from abacus.api.lean import LeanRoute
from abacus.api.problems import MOST_IN_BATCH, invalid
from abacus.api.route_description import answered
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.people.types.deed import Deed
from abacus.pricing.store.cards import CardReader
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_document import Priced, parse_place, usual_country
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.region_desk import RegionDesk

router = APIRouter(prefix="/v1", tags=["places"], route_class=LeanRoute, default_response_class=Response)

_MOST_FAULTS: Final = 100
_PLACE: Final[dict[str, Any]] = {
    "id": "sg-laksa-1",
    "name": "Katong Laksa",
    "country": "SG",
    "merchant": "m-17",
    "categories": ["food", "noodles"],
    "lat": 1.3048,
    "lon": 103.9048,
    "hours": "Mo-Su 09:00-22:00",
}
_SQUARE: Final[list[Any]] = [[103.8, 1.3], [103.9, 1.3], [103.9, 1.4], [103.8, 1.4], [103.8, 1.3]]


class PlaceBatch(BaseModel):
    """Places, each as a document of `abacus places load`; all of them are taken, or none."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"places": [_PLACE]}]})

    # Each is judged by the room that it belongs to.
    places: Annotated[list[SkipValidation[dict[str, Any]]], Field(min_length=1, max_length=MOST_IN_BATCH)]


class PlacesAnswer(BaseModel):
    """How many of the places are new, changed and as they were; `version` is that of all places since then."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"new": 1, "changed": 0, "unchanged": 0, "version": 12}]})

    new: int
    changed: int
    unchanged: int
    version: int


class RegionCollection(BaseModel):
    """All regions of a country, as GeoJSON: what is not there any more is removed."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "FeatureCollection",
                    "features": [
                        {
                            "type": "Feature",
                            "properties": {"id": "sg-katong", "name": "Katong", "kind": "zone", "country": "SG"},
                            "geometry": {"type": "Polygon", "coordinates": [_SQUARE]},
                        }
                    ],
                }
            ]
        }
    )

    type: str
    features: list[SkipValidation[dict[str, Any]]]


class RegionsLoaded(BaseModel):
    """The edition that the regions of the country are now, or null where they are as they were; it waits for the
    approval where they change much.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"country": "SG", "edition": 3, "added": 1, "changed": 0, "removed": 0, "approval_id": None}]
        }
    )

    country: str
    edition: int | None
    added: int
    changed: int
    removed: int
    approval_id: str | None


@router.post(
    "/places",
    summary="Load places",
    responses=answered({200: (PlacesAnswer, "They are stored")}, 415, 422),
)
async def load_places(batch: PlaceBatch, request: Request) -> Response:
    """Up to 1,000 places, each in place of the one with its id. The same again changes nothing."""
    call = caller_of(request)
    _check_may_load(call)
    places = _read(batch.places, call)
    countries = Counter(each.country for each in places)
    for country in countries:
        call.check(Deed.EDIT_PLACES, country)
    try:
        loaded = await call.rooms[PlaceDesk].enter([places], countries, call.agent)
    except Refused as error:
        raise ApiProblem("invalid", str(error)) from None
    return answers.json_answer({name: getattr(loaded, name) for name in PlacesAnswer.model_fields})


@router.post(
    "/places/regions",
    summary="Load the regions of a country",
    responses=answered({200: (RegionsLoaded, "They are in force, or wait for a second person")}, 415, 422),
)
async def load_regions(collection: RegionCollection, request: Request) -> Response:
    """All regions of the one country that the features name. What changes more than the country's map allows waits for
    a person who agrees.
    """
    call = caller_of(request)
    _check_may_load(call)
    _check_country(call, _countries(collection.features, call))
    desk = call.rooms[RegionDesk]
    try:
        file = await desk.read({"type": collection.type, "features": collection.features})
        _check_country(call, file.by_country)
        (compared,) = await desk.compare(file)
        loaded = await desk.enter(compared, call.agent)
    except DocumentFaults:
        raise
    except Refused as error:
        raise ApiProblem("invalid", str(error)) from None
    made = loaded.difference
    return answers.json_answer(
        {
            "country": made.country,
            "edition": loaded.number,
            "added": len(made.added),
            "changed": len(made.changed),
            "removed": len(made.removed),
            "approval_id": None if loaded.approval is None else str(loaded.approval.approval_id),
        }
    )


def _check_may_load(call: Call | PersonCall) -> None:
    """Raises `ApiProblem` for a caller who may load nothing, wherever it is."""
    if isinstance(call, PersonCall):
        call.check_somewhere(Deed.EDIT_PLACES)
    elif not call.partner.may_load_places:
        raise ApiProblem("places-not-allowed")
    elif call.access.mode != LIVE:
        raise ApiProblem("places-not-allowed", "places are live: a test key loads none")


def _check_country(call: Call | PersonCall, countries: Collection[str]) -> None:
    """Raises `ApiProblem` for more than one country, and where the caller may not load."""
    if len(countries) > 1:
        raise ApiProblem("invalid", f"regions of {', '.join(sorted(countries))}; load each country by itself")
    for country in countries:
        call.check(Deed.EDIT_PLACES, country)


def _countries(features: Iterable[object], call: Call | PersonCall) -> Collection[str]:
    """The countries with a card that these features are of, before anything else of them is read."""
    known = _with_cards(call)
    usual, found = usual_country(None, known), set[str]()
    for feature in features:
        properties = feature.get("properties") if isinstance(feature, dict) else None
        named = properties.get("country") if isinstance(properties, dict) else None
        country = usual if named is None else named
        if isinstance(country, str) and country in known:
            found.add(country)
    return found


def _with_cards(call: Call | PersonCall) -> Collection[str]:
    return call.rooms[CardReader].book().of_countries(call.access.clock.now()).keys()


def _read(documents: Sequence[Any], call: Call | PersonCall) -> Sequence[Place]:
    """Raises `ApiProblem` with every fault."""
    countries = _with_cards(call)
    priced, faults = Priced(countries, usual_country(None, countries)), list[FieldFault]()
    places: dict[str, Place] = {}
    for number, document in enumerate(documents):
        within = f"/places/{number}"
        try:
            place = parse_place(document if isinstance(document, dict) else {}, priced)
        except DocumentFaults as error:
            faults += [FieldFault(pointer=f"{within}/{each.path}", detail=each.message) for each in error.faults]
            continue
        if place.id in places:
            faults.append(FieldFault(pointer=f"{within}/id", detail="it stands there before"))
        places[place.id] = place
    if faults:
        raise invalid(faults[:_MOST_FAULTS])
    return list(places.values())
