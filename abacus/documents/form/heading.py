"""The fields that documents which hold for a time have first: name, country, zone and times. Pure."""

from collections.abc import Sequence
from typing import Final

from abacus.documents.decide.heading import MAX_HOURS, NAME_PATTERN
from abacus.documents.form.types import Choice, Field, Hours, Moment, Option, Pick, Rows, Several, Text
from abacus.documents.form.values import plain_words
from abacus.documents.form.zones import ZONES

WHAT_AND_WHERE: Final = ("What and where", ["name", "about", "country", "timezone"])
FROM_AND_UNTIL: Final = ("From and until when", ["starts_at", "ends_at"])
WHEN_IT_RUNS: Final = ("When it runs", ["starts_at", "ends_at", "weekdays", "hours"])
_DAYS: Final = Choice(
    [
        Option("mon", "Monday"),
        Option("tue", "Tuesday"),
        Option("wed", "Wednesday"),
        Option("thu", "Thursday"),
        Option("fri", "Friday"),
        Option("sat", "Saturday"),
        Option("sun", "Sunday"),
    ]
)


def term_fields(name: str, about: str) -> Sequence[Field]:
    """As `read_term` reads them, with examples of a name and of what it is for."""
    return [
        Field(
            name="name",
            sort=Text(pattern=NAME_PATTERN),
            label="Name",
            help="Small letters, digits and underscores; it never changes.",
            required=True,
            example=name,
        ),
        Field(name="about", sort=Text(), label="What it is for", example=about),
        Field(name="country", sort=Pick("countries"), label="Country", required=True, example="SG"),
        Field(name="timezone", sort=Pick(ZONES), label="Time zone", required=True, example="Asia/Singapore"),
        Field(
            name="starts_at",
            sort=Moment("timezone"),
            label="Starts",
            required=True,
            example="2026-01-01T00:00:00+08:00",
            begins="From",
            says=lambda value, table: (
                f"{_moment(value)} until {_moment(table.get('ends_at'))}, {table.get('timezone')}"
            ),
        ),
        Field(
            name="ends_at", sort=Moment("timezone"), label="Ends", required=True, example="2036-01-01T00:00:00+08:00"
        ),
    ]


def heading_fields(name: str, about: str) -> Sequence[Field]:
    """As `read_heading` reads them."""
    return [
        *term_fields(name, about),
        Field(name="weekdays", sort=Several(_DAYS), label="Only on these days", begins="on", says="{}"),
        Field(
            name="hours",
            sort=Rows(Hours(), "span of hours", MAX_HOURS),
            label="Only at these hours",
            usual="At every hour.",
            begins="between",
            says="{} in {timezone}",
        ),
    ]


def _moment(value: object) -> str:
    return plain_words(value).replace("T", " ")[:16]
