"""The form of maps: what people fill in. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.documents.form.of_country import COUNTRY, clock
from abacus.documents.form.types import (
    Amount,
    Choices,
    Day,
    Entries,
    Field,
    Form,
    Group,
    Rows,
    Text,
    Whole,
    options,
)
from abacus.documents.form.zones import ZONES, zone_options
from abacus.pricing.decide.countries import Countries
from abacus.signals.places.decide.country_map import USUAL_FOLLOWING, USUAL_SHARE
from abacus.signals.places.decide.map_document import (
    BY_THE_CARD,
    FARTHEST_M,
    HIGHEST_PRIORITY,
    KIND_PATTERN,
    LARGEST_SHARE,
    MOST_HOLIDAYS,
    MOST_MINUTES,
)


def _said(kinds: object) -> str:
    if not isinstance(kinds, Mapping):
        return str(kinds)
    return ", ".join(f"{kind} ({priority})" for kind, priority in kinds.items())


MAP_FORM: Final = Form(
    [
        COUNTRY,
        clock("Of the hours of places that name no other."),
        Field(
            name="kinds",
            sort=Entries(Text(pattern=KIND_PATTERN), Whole(0, HIGHEST_PRIORITY), "kind of regions"),
            label="Kinds of regions",
            help="Each with the priority of regions that say none. Where regions overlap, the higher is told first.",
            begins="the kinds of regions and their priorities are",
            says=lambda kinds, _: _said(kinds),
            example={"sales_region": 10, "city": 20},
        ),
        Field(
            name="second_person_above",
            sort=Whole(0, LARGEST_SHARE),
            label="A second person above",
            help="How many of a hundred regions one load may change without another person's consent.",
            begins="a second person agrees",
            says="where a load changes more than {} % of the regions",
            usual=f"{USUAL_SHARE} of a hundred regions",
        ),
        Field(
            name="typical_purchase",
            sort=Amount(),
            label="Typical purchase",
            help="In the currency of the country's rate card: offers at a place are ranked by what they save of it.",
            begins="offers at a place are ranked",
            says="by what they save of {}",
            usual=BY_THE_CARD,
        ),
        Field(
            name="holidays",
            sort=Rows(Day(), "holiday", MOST_HOLIDAYS),
            label="Holidays",
            help="The days that hours of places call PH.",
            begins="holidays are",
            says=lambda days, _: ", ".join(map(str, days)),
        ),
        Field(
            name="positions",
            sort=Group(
                [
                    Field(
                        name="leave_after_m",
                        sort=Whole(0, FARTHEST_M),
                        label="A member leaves after",
                        help="Metres beyond the border, so that nobody comes and goes by the noise of a phone.",
                        says="leave a region {} m beyond its border",
                        usual=f"{USUAL_FOLLOWING.leave_after_m} m",
                    ),
                    Field(
                        name="once_in_minutes",
                        sort=Whole(1, MOST_MINUTES),
                        label="Once in",
                        help="Minutes within which a member enters or leaves the same region once.",
                        says="enter or leave the same one once in {} min",
                        usual=f"{USUAL_FOLLOWING.once_in_minutes} min",
                    ),
                ]
            ),
            label="Positions",
            begins="members",
        ),
    ],
    panels=[
        ("Where", ["country", "timezone", "holidays"]),
        ("Regions", ["kinds", "second_person_above"]),
        ("Offers", ["typical_purchase"]),
        ("Members on their way", ["positions"]),
    ],
)


def map_choices(document: Mapping[str, Any], around: Countries) -> Choices:
    return Choices(lists={"countries": options(sorted(around.names)), ZONES: zone_options(document.get("country"))})
