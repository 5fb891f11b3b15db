"""Regions as a file of GeoJSON has them: read with every fault, each told with its feature. Pure."""

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self, TypeAlias

import orjson

from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, matching, shown, string
from abacus.core.fields import country as read_country
from abacus.core.ids import NAME_PATTERN
from abacus.signals.places.decide.country_map import Maps
from abacus.signals.places.decide.drawing import Told, read_drawing
from abacus.signals.places.decide.map_document import read_kind, read_priority
from abacus.signals.places.decide.region import Region

MOST_REGIONS: Final = 200_000
MOST_BYTES: Final = 512 * 1024 * 1024
_MOST_TOLD: Final = 1_000  # faults, and as many things that were mended
_LONGEST_NAME: Final = 100
_USUAL_KIND: Final = "region"
_KNOWN: Final = ("id", "name", "kind", "priority", "country")
_LIKENESS: Final = 0.8
_TOLD_EVERY: Final = 500  # features

RegionDocument: TypeAlias = Mapping[str, object]  # a file, decoded

_id: Final = matching(
    re.compile(NAME_PATTERN), "is not an id; write at most 64 letters, digits, dots, dashes and underscores"
)


class AtFeature(NamedTuple):
    """What is said of a feature of the file. `id` is that of the region, where it can be read."""

    feature: int
    id: str | None
    path: str
    message: str

    @property
    def fault(self) -> Fault:
        of = f" ({self.id})" if self.id is not None else ""
        return Fault(f"features[{self.feature}]{of}{'.' * bool(self.path)}{self.path}", self.message)

    def __str__(self) -> str:
        return str(self.fault)


class RegionFaults(DocumentFaults):
    """Every fault of a file of regions, up to a thousand. `more` counts the others."""

    def __init__(self, faults: Sequence[AtFeature], more: int = 0) -> None:
        super().__init__([each.fault for each in faults])
        self.at_features: Final = tuple(faults)
        self.more: Final = more

    def __reduce__(self) -> tuple[type[Self], tuple[object, ...]]:
        return type(self), (self.at_features, self.more)


@dataclass(frozen=True)
class RegionFile:
    """The regions of a file, by country, and what was mended."""

    by_country: Mapping[str, Sequence[Region]]
    mended: Sequence[AtFeature]


class Usual(NamedTuple):
    """What holds for features that do not say it: the country, and the priorities of its map's kinds of regions.
    `taken` has the ids of the regions in force of each country.
    """

    country: str | None
    maps: Maps
    taken: Mapping[str, Collection[str]]

    def other_owner(self, region: Region) -> str | None:
        """Another country that has a region with this id."""
        return next((other for other, ids in self.taken.items() if other != region.country and region.id in ids), None)


def read_regions(
    given: bytes | RegionDocument, usual: Usual, tell: Callable[[float], None] = lambda _: None
) -> RegionFile:
    """Raises `DocumentFaults`: `RegionFaults` where features have them. `tell` gets the share that is read."""
    document = _decoded(given) if isinstance(given, bytes) else given
    return _Reader(usual).read(_features(document), tell)


def _decoded(written: bytes) -> object:
    if len(written) > MOST_BYTES:
        raise _bad("", f"{len(written):,} bytes; a file has at most {MOST_BYTES:,}")
    try:
        return orjson.loads(written)
    except orjson.JSONDecodeError as error:
        raise _bad("", f"not JSON: {error}") from None


def _features(document: object) -> Sequence[object]:
    values = document if isinstance(document, Mapping) else {}
    sort = values.get("type")
    if sort == "Feature":
        return [document]
    if sort != "FeatureCollection":
        raise _bad("type", f"{shown(sort)}; regions are a FeatureCollection of GeoJSON")
    features = values.get("features")
    if not isinstance(features, list) or not features:
        raise _bad("features", f"{shown(features)}; write an array of at least one feature")
    if len(features) > MOST_REGIONS:
        raise _bad("features", f"{len(features)} features; a file has at most {MOST_REGIONS}")
    return features


def _bad(path: str, message: str) -> DocumentFaults:
    return DocumentFaults([Fault(path or "file", message)])


class _Reader:
    def __init__(self, usual: Usual) -> None:
        self._usual = usual
        self._faults: list[AtFeature] = []
        self._mended: list[AtFeature] = []
        self._more = 0
        self._first: dict[str, int] = {}  # the feature of each id

    def read(self, features: Sequence[object], tell: Callable[[float], None]) -> RegionFile:
        by_country: dict[str, list[Region]] = {}
        for number, feature in enumerate(features):
            if number % _TOLD_EVERY == 0:
                tell(number / len(features))
            region = self._region(number, feature)
            by_country.setdefault(region.country, []).append(region)
        if self._faults:
            raise RegionFaults(self._faults, self._more)
        return RegionFile(by_country, self._mended)

    def _region(self, number: int, feature: object) -> Region:
        """Where there are faults, it is no region."""
        values = feature if isinstance(feature, dict) else {}
        given = _given(values)
        id_ = given["id"] if isinstance(given.get("id"), str) else None
        told = self._telling(number, id_)
        if values.get("type") != "Feature":
            told.fault("type", f"{shown(values.get('type') if values else feature)}; write a Feature")
            return _NONE
        for name in given:
            if name not in _KNOWN and (near := difflib.get_close_matches(name, _KNOWN, n=1, cutoff=_LIKENESS)):
                told.mended(f"properties.{name}", f"passed over; did you mean {near[0]}?")
        faults: list[Fault] = []
        region = self._described(Fields(given, "properties", faults), faults)
        for each in faults:
            told.fault(each.path, each.message)
        if region.id and (first := self._first.setdefault(region.id, number)) != number:
            told.fault("properties.id", f"{region.id} is the id of features[{first}] already")
        elif region.country and (owner := self._usual.other_owner(region)) is not None:
            told.fault("properties.id", f"{region.id} is a region of {owner}; ids are those of all countries")
        return replace(region, parts=read_drawing(values.get("geometry"), told))

    def _telling(self, number: int, id_: str | None) -> Told:
        def fault(path: str, message: str) -> None:
            if len(self._faults) < _MOST_TOLD:
                self._faults.append(AtFeature(number, id_, path, message))
            else:
                self._more += 1

        def mended(path: str, message: str) -> None:
            if len(self._mended) < _MOST_TOLD:
                self._mended.append(AtFeature(number, id_, path, message))

        return Told(fault, mended)

    def _described(self, fields: Fields, faults: list[Fault]) -> Region:
        """The region without its shape."""
        usual = self._usual
        id_ = fields.read("id", _id, "")
        kind = fields.read_if_there("kind", read_kind, _USUAL_KIND)
        country = fields.read_if_there("country", read_country, usual.country or "")
        if not country and not fields.values.get("country"):
            faults.append(Fault("properties.country", "missing; write the country, or name it for the whole file"))
        elif country and country not in usual.maps.countries:
            faults.append(Fault("properties.country", f"{country} has no rate card"))
        priority = usual.maps.of(country).kinds.get(kind, 0)
        return Region(
            id_,
            fields.read_if_there("name", _name, id_),
            kind,
            fields.read_if_there("priority", read_priority, priority),
            country,
            (),
        )


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a feature. Its id may stand beside them."""
    properties = values.get("properties")
    given = dict(properties) if isinstance(properties, dict) else {}
    return {"id": values["id"], **given} if "id" in values else given


def _name(value: object) -> str:
    text = string(value).strip()
    if not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise Bad(f"{shown(value)}; write a name of at most {_LONGEST_NAME} printable characters")
    return text


_NONE: Final = Region("", "", "", 0, "", ())
