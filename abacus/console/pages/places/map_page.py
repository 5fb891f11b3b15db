"""The map of a country: regions as areas, places as points, and what a member is offered where somebody clicks. It is
drawn from what was loaded; nothing comes from outside.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from abacus.console.decide.map_picture import (
    HEIGHT,
    WIDTH,
    MapPicture,
    Pin,
    View,
    drawn,
    largest_in,
    view_around,
    view_of,
)
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import WrongForm
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.core.errors import SetAside
from abacus.core.fields import DocumentFaults
from abacus.engage.offers.decide.ask import Ask, Shown
from abacus.engage.offers.decide.currencies import money_text
from abacus.engage.offers.decide.purchase import typical_units
from abacus.engage.offers.decide.spot import purchase_at
from abacus.engage.offers.preview import MOST, Fitting, OfferPreview
from abacus.engage.offers.qualifier import OtherCountry
from abacus.engage.offers.spots import spot_among
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.store.cards import CardReader
from abacus.signals.places.decide.opening import Opening
from abacus.signals.places.decide.point import Point, point
from abacus.signals.places.decide.region import RegionName
from abacus.signals.places.decide.sphere import Box
from abacus.signals.places.kind import MapDirectory
from abacus.signals.places.place_desk import PlaceDesk
from abacus.signals.places.region_desk import RegionDesk
from abacus.signals.places.region_directory import RegionDirectory

_ASKED: Final = ("kind", "member")
_MOST_AREAS: Final = 600  # of one picture, the largest
_MOST_PLACES: Final = 5_000
_NEAR: Final = 8  # places round a point
_OFFERED: Final = 3  # offers of each
_EVERYWHERE: Final = view_of(0.0, 0.0, 180.0)


@dataclass(frozen=True)
class Drawn:
    """The picture, and how many regions and places of the view are not in it because there are too many."""

    picture: MapPicture
    more_regions: int
    more_places: bool


@dataclass(frozen=True)
class NearPlace:
    """A place near the point: in metres, open or not (None: nobody knows), with the best offers there."""

    id: str
    name: str
    metres: int
    is_open: bool | None
    offers: Sequence[str]
    more_offers: int


@dataclass(frozen=True)
class Found:
    """What is at a point: its regions, or else the nearest one with its metres, and the nearest places."""

    regions: Sequence[RegionName]
    nearest: RegionName | None
    metres: int | None
    places: Sequence[NearPlace]
    member: str | None
    is_degraded: bool = False


@dataclass(frozen=True, kw_only=True)
class MapPage(Page):
    """`query` is what the address says of the view, and `shown` where it leads: near, far and to the four sides."""

    template: ClassVar[str] = "places_map.html"
    country: str
    view: View
    width: int = WIDTH
    height: int = HEIGHT
    kinds: Sequence[tuple[str, str]]
    moves: Sequence[tuple[str, View]]
    drawn: Part[Drawn]
    at: tuple[float, float] | None = None
    spot: tuple[float, float] | None = None  # where the point stands in the picture
    found: Part[Found] | None = None


async def of_country(call: Call) -> MapPage:
    """Raises `PageFault` where the country has no card."""
    country = call.request.path_params["document"]
    call.check(Deed.SEE, country)
    card = _card(call, country)
    regions = call.rooms[RegionDirectory].value()
    boxes = [each for each in regions.boxes() if each[0].country == country]
    typed = call.narrowed(*_ASKED)
    view = _view(call) or _around(boxes) or _EVERYWHERE
    at = _clicked(call, view)
    page = MapPage(
        title=f"The map of {country}",
        command=None,
        country=country,
        view=view,
        kinds=[(each, each) for each in sorted({name.kind for name, _ in boxes})],
        moves=_moves(view),
        drawn=await call.part(_drawn(call, country, view, typed.get("kind") or None)),
        form=typed,
    )
    if at is None:
        return page
    page = replace(page, at=at, spot=(round(view.x(at[1]), 1), round(view.y(at[0]), 1)))
    try:
        here = point(*at)
    except DocumentFaults as error:
        return replace(page, fault=str(error))
    try:
        return replace(page, found=await call.part(_found(call, card, here, typed.get("member") or None)))
    except WrongForm as wrong:
        return replace(page, form=wrong.form, fault=wrong.fault)


def _around(boxes: Iterable[tuple[RegionName, Box]]) -> View | None:
    """All of a country."""
    return view_around(corner for _, box in boxes for corner in ((box.west, box.south), (box.east, box.north)))


def _card(call: Call, country: str) -> PublishedCard:
    try:
        return call.rooms[CardReader].book().in_force(country, call.now)
    except SetAside:
        raise PageFault("not-found", f"{country} has no rate card, so it has no map.") from None


def _number(call: Call, name: str) -> float | None:
    """A number of the address; None where there is none."""
    try:
        return float(call.asked(name) or "")
    except ValueError:
        return None


def _view(call: Call) -> View | None:
    lat, lon, span = (_number(call, name) for name in ("middle_lat", "middle_lon", "span"))
    if lat is None or lon is None or span is None or not all(abs(each) <= 360 for each in (lat, lon, span)):  # noqa: PLR2004  # degrees
        return None
    return view_of(lat, lon, span)


def _clicked(call: Call, view: View) -> tuple[float, float] | None:
    """The latitude and the longitude that were clicked or typed."""
    x, y = _number(call, "at.x"), _number(call, "at.y")
    if x is not None and y is not None and 0 <= x <= WIDTH and 0 <= y <= HEIGHT:
        lat, lon = view.clicked(x, y)
        return round(lat, 6), round(lon, 6)
    lat_typed, lon_typed = _number(call, "lat"), _number(call, "lon")
    return None if lat_typed is None or lon_typed is None else (lat_typed, lon_typed)


def _moves(view: View) -> Sequence[tuple[str, View]]:
    return (
        ("Nearer", view.zoomed(0.5)),
        ("Farther", view.zoomed(2)),
        ("North", view.moved(0, 0.5)),
        ("South", view.moved(0, -0.5)),
        ("West", view.moved(-0.5, 0)),
        ("East", view.moved(0.5, 0)),
    )


async def _drawn(call: Call, country: str, view: View, kind: str | None) -> Drawn:
    """The largest regions are drawn first, and so lie at the bottom."""
    boxes = call.rooms[RegionDirectory].value().boxes()
    within = largest_in(view, (each for each in boxes if each[0].country == country and kind in {None, each[0].kind}))
    shown = [each.id for each in within[:_MOST_AREAS]]
    regions = await call.rooms[RegionDesk].drawn(country, shown)
    places = await call.rooms[PlaceDesk].within(country, view.box(), _MOST_PLACES + 1)
    pins = [Pin(*each) for each in places[:_MOST_PLACES]]
    return Drawn(drawn(view, regions, pins), len(within) - len(shown), len(places) > _MOST_PLACES)


async def _found(call: Call, card: PublishedCard, at: Point, member: str | None) -> Found:
    """Raises `WrongForm` and `Unavailable`."""
    regions, maps = call.rooms[RegionDirectory].value(), call.rooms[MapDirectory].value()
    opening, currency = Opening(call.now, maps), card.card.currency
    price = typical_units(card.card, maps.of(card.card.scope).typical_purchase)
    near = await call.rooms[PlaceDesk].nearest(at, _NEAR, card.card.scope)
    items = [purchase_at(spot_among(regions, place), price, currency) for place, _ in near]
    offered = await _offered(call, [Ask(card, [each], member_id=member) for each in items])
    inside = regions.at(at)
    away = None if inside else regions.nearest(at)
    name, metres_away = (away[0], round(away[1])) if away is not None else (None, None)
    told = []
    for (place, metres), each in zip(near, offered, strict=True):
        said = [_said(one, price, currency) for one in each.fits[:_OFFERED]]
        more = max(0, len(each.fits) - _OFFERED)
        told.append(NearPlace(place.id, place.name, round(metres), opening.is_open(place), said, more))
    return Found(inside, name, metres_away, told, member, any(each.reading.is_degraded for each in offered))


async def _offered(call: Call, asks: Sequence[Ask]) -> Sequence[Fitting]:
    """What a typical purchase saves at each place. Raises `WrongForm` and `Unavailable`."""
    if not asks:
        return ()
    preview, country = call.rooms[OfferPreview], asks[0].card.card.scope
    offers = await preview.for_items(country, [item for each in asks for item in each.items], call.now)
    try:
        return await preview.fitting(offers[:MOST], asks, call.now)
    except OtherCountry:
        wrong = call.narrowed(*_ASKED).but(member=f"The member's points are not in {country}.")
        raise WrongForm(wrong) from None


def _said(shown: Shown, price: int, currency: str) -> str:
    if shown.saves:
        return (
            f"{shown.offer.name}: saves {money_text(shown.saves, currency)} of {money_text(price, currency)} {currency}"
        )
    return f"{shown.offer.name}: {shown.gives:,} points more"
