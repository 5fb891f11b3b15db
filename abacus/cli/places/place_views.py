"""`abacus places find` and `abacus places nearest`: a place by its id, and the places near a point."""

from typing import Annotated, Any

import typer

from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.command_actor import actor
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.directory import read_moment
from abacus.platform.postgres import Pool
from abacus.pricing.kind import CARDS
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.opening import Opening
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.place_document import to_document
from abacus.signals.places.decide.place_index import FARTHEST_M, MOST_K, USUAL_K, USUAL_RADIUS_M, Sought
from abacus.signals.places.decide.point import Point, point
from abacus.signals.places.kind import MAPS, maps_at
from abacus.signals.places.place_desk import PlaceDesk

_COLUMNS = ("metres", "place", "name", "merchant", "brand", "categories", "open")


async def find_place(
    id_: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
) -> Answer:
    """Show a place: where it is, what it has, and whether it is open now."""
    async with actor() as at:
        found = await PlaceDesk(at.pool, at.clock).find(id_)
        is_open = Opening(at.clock.now(), await _maps(at.pool)).is_open(found.place)
    told = {
        **to_document(found.place),
        "open": is_open,
        "version": found.version,
        "changed_at": found.changed_at,
    }
    rows = [[name, _cell(value)] for name, value in told.items()]
    return Answer(told, Table(found.place.name, ["field", "value"], rows))


async def nearest_places(
    lat: Annotated[float, typer.Argument(metavar="LAT", show_default=False)],
    lon: Annotated[float, typer.Argument(metavar="LON", show_default=False)],
    k: Annotated[int, typer.Option("--k", min=1, max=MOST_K, help="How many at most.")] = USUAL_K,
    radius: Annotated[int, typer.Option(min=1, max=FARTHEST_M, help="Metres.")] = USUAL_RADIUS_M,
    open_now: Annotated[bool, typer.Option("--open", help="Places that are open now.")] = False,
    merchant: Annotated[str | None, typer.Option(help="Of this merchant.", show_default=False)] = None,
    brand: Annotated[str | None, typer.Option(help="Of this brand.", show_default=False)] = None,
    category: Annotated[str | None, typer.Option(help="Of this category.", show_default=False)] = None,
) -> Answer:
    """List the places nearest to a point, with their distances on the sphere. A negative number stands behind `--`."""
    at_point = _point(lat, lon)
    async with actor() as at:
        index = await PlaceDesk(at.pool, at.clock).around(at_point, radius)
        opening = Opening(at.clock.now(), await _maps(at.pool))
    near = index.nearest(
        at_point,
        k,
        radius,
        (lambda traits: opening.is_open(traits) is True) if open_now else None,
        sought=Sought(merchant, brand, category),
    )
    seen = [(place, metres, opening.is_open(place)) for place, metres in near]
    told = [{**to_document(place), "distance_m": round(metres), "open": is_open} for place, metres, is_open in seen]
    rows = [_row(place, metres, is_open=is_open) for place, metres, is_open in seen]
    return Answer(told, Table(f"Places near {lat:g}, {lon:g}", _COLUMNS, rows))


def _point(lat: float, lon: float) -> Point:
    try:
        return point(lat, lon)
    except DocumentFaults as error:
        raise Refused(str(error)) from None


async def _maps(pool: Pool) -> Maps:
    return maps_at(await read_moment(pool, MAPS, CARDS))


def _row(place: Place, metres: float, *, is_open: bool | None) -> list[object]:
    shown = (place.id, place.name, place.merchant, place.brand, ", ".join(place.categories), _cell(is_open))
    return [round(metres), *shown]


def _cell(value: Any) -> object:
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(value)
        case dict():
            return ", ".join(f"{name}: {each}" for name, each in value.items())
        case _:
            return value
