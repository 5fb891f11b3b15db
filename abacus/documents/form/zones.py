"""Time zones as choices: those of a country first. Pure."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from abacus.core.time_zones import UTC, all_zones, zones_by_country
from abacus.documents.form.types import Option

ZONES: Final = "zones"  # the name of the list


def zone_options(country: object = None, used: Iterable[str] = ()) -> Sequence[Option]:
    """All zones under their regions; before them those of the country, those that are `used` already, and UTC."""
    own = zones_by_country().get(country, ()) if isinstance(country, str) else ()
    return _options(tuple(dict.fromkeys([*own, *used, UTC])))


@lru_cache(maxsize=64)
def _options(first: tuple[str, ...]) -> Sequence[Option]:
    others = (each for each in all_zones() if each not in first)
    return [*(Option(each, each) for each in first), *(Option(each, each, each.partition("/")[0]) for each in others)]
