"""Maps of countries, as published documents: the latest version is in force."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.core.fields import Fault
from abacus.documents.desk import DocumentDesk
from abacus.documents.directory import DocumentDirectory, Moment
from abacus.documents.kind import DocumentKind, Table
from abacus.documents.types import Version
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import country_of
from abacus.pricing.decide.countries import Countries
from abacus.pricing.kind import CARDS, countries_with_cards
from abacus.signals.places.decide.country_map import CountryMap, Maps, maps_of
from abacus.signals.places.decide.map_document import LABELS, described, parse_map, to_document
from abacus.signals.places.decide.map_form import MAP_FORM, map_choices


async def _read(document: Mapping[str, object], _: Countries) -> CountryMap:
    return parse_map(document)


def _restore(document: Mapping[str, Any], version: Version) -> CountryMap:
    return parse_map(document).numbered(version.number)


def _check(_: CountryMap, _latest: Iterable[CountryMap], _around: Countries) -> list[Fault]:
    return []


MAPS: Final[DocumentKind[CountryMap, Countries]] = DocumentKind(
    word="map",
    plural="maps of countries",
    noun="map",
    command="places",
    subject="map",
    deed=Deed.EDIT_PLACES,
    table=Table("country_map", "country"),
    name_field="country",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    check=_check,
    key=lambda map_: map_.country,
    name=lambda map_: map_.country,
    split_label=LABELS.split,
    country=lambda map_: map_.country,
    form=MAP_FORM,
    choices=map_choices,
)


class MapDesk(DocumentDesk[CountryMap, Countries]):
    """The desk of the maps of countries."""


def map_desk(pool: Pool, clock: Clock) -> MapDesk:
    return MapDesk(pool, clock, MAPS, countries_with_cards)


def maps_at(moment: Moment) -> Maps:
    """The maps and the zones of cards as they were published at a moment."""
    cards = moment.of(CARDS)
    zones = {country: each.timezone for each in cards if (country := country_of(each.scope)) is not None}
    return maps_of(moment.of(MAPS), zones)


class MapDirectory(DocumentDirectory[Maps]):
    """Serves the map of each country."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, MAPS, maps_at, CARDS)
