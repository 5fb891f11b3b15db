"""The fields that documents of a country have first. Pure."""

from typing import Final

from abacus.core.fields import COUNTRY_PATTERN
from abacus.documents.form.types import Field, Pick, Text
from abacus.documents.form.zones import ZONES

COUNTRY: Final = Field(
    name="country",
    sort=Text(pattern=COUNTRY_PATTERN, listed="countries"),
    label="Country",
    begins="In",
    required=True,
    example="SG",
)


def clock(help_: str) -> Field:
    """The zone of the country; `help_` says of what."""
    return Field(
        name="timezone",
        sort=Pick(ZONES),
        label="Time zone",
        help=help_,
        required=True,
        example="Asia/Singapore",
        begins="by the clock of",
    )
