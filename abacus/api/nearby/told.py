"""What is near a point, as it is written and as the manual describes it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict

from abacus.engage.nearby.decide.ask import Around, Categories, Where
from abacus.engage.offers.decide.ask import Shown
from abacus.engage.offers.decide.currencies import money_text


class NearestRegion(BaseModel):
    """The nearest region of a point outside of all, and the distance of its border in metres."""

    id: str
    distance_m: int


class OfferHere(BaseModel):
    """An offer at a place: what it saves on a typical purchase there, and the points that this earns then; null where
    the card does not price it.
    """

    offer: str
    version: int
    about: str
    saves: str
    currency: str
    until: datetime
    points: int | None


class PlaceAnswer(BaseModel):
    """A place: the distance in metres, whether it is open now, or null where nobody knows, the best offers there, the
    number of all, and the points that a unit of money earns there, or null where the card does not price it.
    """

    id: str
    name: str
    distance_m: int
    open: bool | None
    offers: list[OfferHere]
    offers_in_all: int
    earns: str | None


_WHERE: Final[dict[str, Any]] = {"regions": ["sg-orchard", "sg"]}


class RegionsAnswer(BaseModel):
    """The ids of the regions that the point lies in: by falling priority, then by id. Outside of all, the nearest."""

    model_config = ConfigDict(json_schema_extra={"examples": [_WHERE]})

    regions: list[str]
    nearest: NearestRegion | None = None


class NearbyAnswer(RegionsAnswer):
    """The places from the nearest on. `degraded`: offers may be missing, because a part of what they ask cannot be read
    now.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_WHERE,
                    "places": [
                        {
                            "id": "sg-laksa-1",
                            "name": "Katong Laksa",
                            "distance_m": 140,
                            "open": True,
                            "offers": [
                                {
                                    "offer": "lunch_20",
                                    "version": 1,
                                    "about": "A fifth off lunch, at most 5",
                                    "saves": "4.00",
                                    "currency": "SGD",
                                    "until": "2026-11-30T16:00:00Z",
                                    "points": 32,
                                }
                            ],
                            "offers_in_all": 1,
                            "earns": "2",
                        }
                    ],
                    "degraded": False,
                }
            ]
        }
    )

    places: list[PlaceAnswer]
    degraded: bool


class CategoryCount(BaseModel):
    """A category, and how many places that have it have something on offer."""

    category: str
    places: int


class BrandCount(BaseModel):
    """A brand, and how many of its places have something on offer."""

    brand: str
    places: int


class CategoriesAnswer(RegionsAnswer):
    """Of the places in the same regions as the point, most places first. `degraded` as of `NearbyAnswer`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_WHERE,
                    "categories": [{"category": "food", "places": 12}, {"category": "noodles", "places": 3}],
                    "brands": [{"brand": "hawker", "places": 3}],
                    "degraded": False,
                }
            ]
        }
    )

    categories: list[CategoryCount]
    brands: list[BrandCount]
    degraded: bool


class Parts:
    """The parts of a place in an answer that many answers have in common: members of its object, without braces."""

    def place(self, id_: str, name: str) -> bytes:
        return orjson.dumps({"id": id_, "name": name})[1:-1]

    def here(self, best: Sequence[Shown], currency: str, in_all: int, earns: str | None) -> bytes:
        offers = [
            {
                "offer": each.offer.name,
                "version": each.offer.version,
                "about": each.offer.about,
                "saves": money_text(each.saves, currency),
                "currency": currency,
                "until": each.offer.ends_at,
                "points": each.points,
            }
            for each in best
        ]
        told = {"offers": offers, "offers_in_all": in_all, "earns": earns}
        return orjson.dumps(told, option=orjson.OPT_UTC_Z)[1:-1]


_OPEN: Final = {True: b"true", False: b"false", None: b"null"}


def around_told(around: Around) -> bytes:
    """Put together out of parts, since most of twenty places are in other answers as well."""
    places = b",".join(
        [
            b'{%b,"distance_m":%d,"open":%b,%b}' % (written, int(metres + 0.5), _OPEN[is_open], here.written)
            for written, metres, is_open, here in around.places
        ]
    )
    degraded = b"true" if around.is_degraded else b"false"
    return b'%b,"places":[%b],"degraded":%b}' % (orjson.dumps(_where(around.where))[:-1], places, degraded)


def categories_told(found: Categories) -> bytes:
    return orjson.dumps(
        {
            **_where(found.where),
            "categories": [{"category": name, "places": count} for name, count in found.on_offer.categories],
            "brands": [{"brand": name, "places": count} for name, count in found.on_offer.brands],
            "degraded": found.is_degraded,
        }
    )


def regions_told(where: Where) -> bytes:
    return orjson.dumps(_where(where))


def _where(where: Where) -> dict[str, Any]:
    if where.nearest is None:
        return {"regions": where.regions}
    name, metres = where.nearest
    return {"regions": where.regions, "nearest": {"id": name.id, "distance_m": int(metres + 0.5)}}
