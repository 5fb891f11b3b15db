"""The form of an assumption: what finance expects of a program's points in a country, from a day on. Pure."""

from collections.abc import Iterable
from datetime import date
from typing import Any, Final

from abacus.core.points import plain
from abacus.documents.form.types import Amount, Choices, Day, Field, Form, Option, Pick, Text
from abacus.oversight.reports.decide.assumption import Estimate, percent
from abacus.pricing.decide.card import RateCard, country_of

PRICES: Final = ("cost_per_point", "selling_price", "allocated_per_point")

ASSUMPTION_FORM: Final = Form(
    [
        Field(name="program", sort=Pick("programs"), label="Points", required=True, example="GRP", begins="Points of"),
        Field(name="country", sort=Pick("countries"), label="Country", required=True, example="SG", begins="in"),
        Field(
            name="effective_from",
            sort=Day(),
            label="In force from",
            required=True,
            example="2026-07-01",
            begins="from",
            says="{} on",
        ),
        Field(
            name="expected_use",
            sort=Text(),
            label="Expected use",
            help="How many of all points will be used, such as 97%. The others lapse.",
            required=True,
            example="97%",
            begins="Of all points",
            says="{} will be used",
        ),
        Field(
            name="currency",
            sort=Pick("currencies"),
            label="Currency",
            required=True,
            example="SGD",
            begins="prices are in",
        ),
        Field(
            name="cost_per_point",
            sort=Amount(),
            label="Cost of a point",
            help="What it costs when it is used.",
            begins="A point costs",
        ),
        Field(
            name="selling_price",
            sort=Amount(),
            label="Selling price",
            help="What a point costs that is sold alone.",
            begins="sold alone it costs",
        ),
        Field(
            name="allocated_per_point",
            sort=Amount(),
            label="Allocated to a point",
            help="The part of a sale's price that is deferred for each point.",
            begins="of a sale's price are deferred for it",
        ),
        Field(
            name="reason",
            sort=Text(lines=2),
            label="Reason",
            help="Auditors read it.",
            required=True,
            example="a study of the last year",
            begins="Because",
        ),
    ],
    panels=[
        ("Which points", ["program", "country", "effective_from"]),
        ("What they are expected to cost", ["expected_use", "currency", *PRICES]),
        ("Why", ["reason"]),
    ],
)


def assumption_choices(cards: Iterable[RateCard]) -> Choices:
    """What cards were published for."""
    found = list(cards)
    lists: dict[str, Iterable[str | None]] = {
        "programs": {each.program for each in found},
        "countries": {country_of(each.scope) for each in found},
        "currencies": {each.currency for each in found},
    }
    return Choices(
        lists={name: [Option(each, each) for each in sorted(filter(None, values))] for name, values in lists.items()}
    )


def to_document(
    program: str, country: str, estimate: Estimate, *, since: date | None = None, reason: str = ""
) -> dict[str, Any]:
    """As the form has it: the values of an assumption, and what was said of it."""
    prices = {name: getattr(estimate, name) for name in PRICES}
    return {
        "program": program,
        "country": country,
        "expected_use": percent(estimate.expected_use),
        "currency": estimate.currency,
        **({"effective_from": since.isoformat()} if since is not None else {}),
        **{name: plain(price) for name, price in prices.items() if price is not None},
        **({"reason": reason} if reason else {}),
    }
