"""The map of a country: its clock, its kinds of regions, and how places there are told and followed. Pure values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

USUAL_SHARE: Final = 10
TYPICAL_POINTS: Final = 20  # that a typical purchase earns where no country team has said what it costs


class Following(NamedTuple):
    """How members' positions become visits: a member leaves a region `leave_after_m` metres beyond its border, and
    enters or leaves the same one at most once in `once_in_minutes`.
    """

    leave_after_m: int = 100
    once_in_minutes: int = 30


USUAL_FOLLOWING: Final = Following()


@dataclass(frozen=True)
class CountryMap:
    """A version of the map of a country. `kinds` has the usual priority of each kind of regions. A load that changes
    more than `second_person_above` hundredths of the regions takes a second person. Offers at a place are ranked by
    what they save of a `typical_purchase`, in the currency of the country's card; None leaves it to the card.
    `holidays` are the days that hours of places call PH.
    """

    country: str
    timezone: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    second_person_above: int = USUAL_SHARE
    typical_purchase: Decimal | None = None
    holidays: frozenset[date] = frozenset()
    positions: Following = USUAL_FOLLOWING
    version: int = 0

    def __hash__(self) -> int:  # the generated one would hash the mapping, which has no hash
        return hash((self.country, self.version))

    @cached_property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def numbered(self, version: int) -> "CountryMap":
        return replace(self, version=version)


@dataclass(frozen=True)
class Maps:
    """The map of each country. A country without one has a map that says nothing but the zone of its rate card."""

    by_country: Mapping[str, CountryMap] = field(default_factory=lambda: MappingProxyType({}))
    countries: frozenset[str] = frozenset()  # that have a card

    def of(self, country: str) -> CountryMap:
        """Of a country that has neither a map nor a card, by UTC."""
        return self.by_country.get(country) or CountryMap(country, "UTC")


def maps_of(published: Iterable[CountryMap], zones: Mapping[str, str]) -> Maps:
    """`zones` has the zone of each country with a card."""
    usual = {country: CountryMap(country, zone) for country, zone in zones.items()}
    return Maps({**usual, **{each.country: each for each in published}}, frozenset(zones))
