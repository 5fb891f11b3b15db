"""The form of contact policies: what people fill in. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.documents.form.of_country import COUNTRY, clock
from abacus.documents.form.types import Choices, Entries, Field, Form, Hours, Option, Pick, Text, Whole, options
from abacus.documents.form.zones import ZONES, zone_options
from abacus.engage.notify.decide.contact_document import (
    CAP_PATTERN,
    LARGEST_HOLDOUT,
    LONGEST_PATIENCE,
)
from abacus.engage.notify.decide.contact_policy import MessageKind
from abacus.engage.notify.decide.message import ChannelName
from abacus.pricing.decide.countries import Countries

_KIND_WORDS: Final[Mapping[MessageKind, str]] = {
    MessageKind.MARKETING: "marketing: what campaigns and journeys say",
    MessageKind.SERVICE: "service: what journeys say",
    MessageKind.EARNED: "earned: points came in",
    MessageKind.EXPIRED: "expired: points are gone",
    MessageKind.EXPIRING: "expiring: points will be gone",
    MessageKind.TIER_CHANGED: "tier_changed: another tier",
}


def _said(caps: object) -> str:
    if not isinstance(caps, Mapping):
        return str(caps)
    each = [
        f"{kind} over {channel}: {cap}"
        for channel, kinds in caps.items()
        if isinstance(kinds, Mapping)
        for kind, cap in kinds.items()
    ]
    return "; ".join(each)


CONTACT_FORM: Final = Form(
    [
        COUNTRY,
        clock("Of members who have set none."),
        Field(
            name="quiet_hours",
            sort=Hours(),
            label="Quiet hours",
            help="By the member's clock, such as 21:00-08:00. A message waits for their end.",
            begins="quiet",
            says="between {}",
        ),
        Field(
            name="caps",
            sort=Entries(
                Pick("channels"), Entries(Pick("kinds"), Text(pattern=CAP_PATTERN), "kind of messages"), "channel"
            ),
            label="Caps",
            help="How many messages a member gets at most, over all campaigns together: 3 a day, or 10 a week, or both "
            "as 3 a day, 10 a week.",
            begins="At most,",
            says=lambda caps, _: _said(caps),
            example={"sns": {"marketing": "3 a day, 10 a week"}},
        ),
        Field(
            name="patience_days",
            sort=Whole(0, LONGEST_PATIENCE),
            label="A message waits for room",
            help="Days, after which the member is not told. Without any the member is told today, or not.",
            begins="a message without room waits",
            says="{} day(s)",
        ),
        Field(
            name="holdout",
            sort=Whole(1, LARGEST_HOLDOUT),
            label="Holdout",
            help="How many of a hundred members are told nothing of campaigns; the share is drawn once and for all.",
            begins="held out",
            says="are {} % of members",
        ),
    ],
    panels=[
        ("Where", ["country", "timezone"]),
        ("When", ["quiet_hours"]),
        ("How often", ["caps", "patience_days"]),
        ("To whom", ["holdout"]),
    ],
)


def contact_choices(document: Mapping[str, Any], around: Countries) -> Choices:
    return Choices(
        lists={
            "countries": options(sorted(around.names)),
            ZONES: zone_options(document.get("country")),
            "channels": options(ChannelName),
            "kinds": [Option(kind.value, words) for kind, words in _KIND_WORDS.items()],
        }
    )
