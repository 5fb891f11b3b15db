"""Maps: the clock of each country, its kinds of regions, and how members are followed there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from abacus.console.pages.drafts.draft_kind import DraftKind
from abacus.console.pages.drafts.register import DocumentPage, Register
from abacus.console.web.calls import Call
from abacus.documents.form.example import example
from abacus.pricing.decide.countries import Countries
from abacus.signals.places.decide.country_map import CountryMap
from abacus.signals.places.decide.map_form import MAP_FORM
from abacus.signals.places.kind import MAPS, MapDesk


@dataclass(frozen=True, kw_only=True)
class CountryMapPage(DocumentPage):
    """What holds for the country, with the way to its picture."""

    template: ClassVar[str] = "country_map.html"


def _beside(document: Mapping[str, Any], _: Sequence[CountryMap]) -> Mapping[str, Any]:
    """Each country has one map: a copy is for another one."""
    return {**document, "country": ""}


MAP_REGISTER: Final[Register[CountryMap, Countries]] = Register(
    drafts=DraftKind(
        kind=MAPS,
        desk=lambda rooms: rooms[MapDesk],
        about="It holds for regions that are loaded from now on, and for the hours of places at once.",
        begin=lambda _: MAPS.write(example(MAP_FORM)),
        beside=_beside,
        page=lambda map_: f"/places/{map_.country}",
    ),
    title="Places",
    about="The map of each country: its clock, its kinds of regions, and how members are followed there.",
    columns={
        "time zone": lambda map_: map_.timezone,
        "kinds of regions": lambda map_: ", ".join(map_.kinds) or "any",
        "second person": lambda map_: f"above {map_.second_person_above} %",
    },
)


async def country_map(call: Call) -> CountryMapPage:
    return CountryMapPage(**vars(await MAP_REGISTER.one(call)))
