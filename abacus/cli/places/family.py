"""Maps on the command line: their desk, and drafts in files."""

from contextlib import nullcontext
from typing import Final

from abacus.cli.documents.family import Family
from abacus.pricing.decide.countries import Countries
from abacus.signals.places.kind import MAPS, map_desk

FAMILY: Final = Family(
    kind=MAPS,
    desk=lambda at: nullcontext(map_desk(at.pool, at.clock)),
    offline=Countries,
    metavar="COUNTRY",
    files="Maps of countries, in TOML or JSON.",
    drafts="maps",
    one="the map of a country",
    nothing_new="the maps are in force already",
    sentence=lambda map_: f"map of {map_.country}",
)
