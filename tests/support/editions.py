"""Editions of regions, as loads make them."""

from collections.abc import Sequence

from abacus.signals.places.decide.edition import drawn
from abacus.signals.places.decide.index_bytes import index_of
from abacus.signals.places.decide.region import Region
from abacus.signals.places.region_desk import silent
from abacus.signals.places.region_store import Prepared


def edition_of(country: str, regions: Sequence[Region]) -> Prepared:
    given = drawn(regions)
    return Prepared(country, *given, index_of(given, silent))
