"""The form of rate cards: what people fill in. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from abacus.core.points import MAX_POINTS, Rounding
from abacus.documents.form.types import (
    Amount,
    Choice,
    Choices,
    Entries,
    Field,
    Form,
    Group,
    Moment,
    Option,
    Pick,
    Text,
    Whole,
)
from abacus.documents.form.zones import ZONES, zone_options
from abacus.pricing.decide.card import BASE_TIER, MOST_EXPIRY_MONTHS, MOST_VESTING_DAYS, Expiry, OnShortfall


def _multipliers(name: str, label: str, noun: str, example: Mapping[str, str]) -> Field:
    return Field(
        name=name,
        sort=Entries(Text(), Amount(), noun),
        label=label,
        help="Points are multiplied by it.",
        required=True,
        example=example,
        begins=label.lower(),
    )


CARD_FORM: Final = Form(
    [
        Field(
            name="scope",
            sort=Text(pattern="[A-Z]{2}|partner:[a-z0-9-]+"),
            label="Country, or partner",
            help="Two capitals, or partner:name.",
            required=True,
            example="SG",
            begins="In",
            says="{}, points of {program}",
        ),
        Field(
            name="program", sort=Text(pattern="[A-Z][A-Z0-9_]{0,15}"), label="Points of", required=True, example="GRP"
        ),
        Field(name="currency", sort=Text(pattern="[A-Z]{3}"), label="Currency", required=True, example="SGD"),
        Field(name="timezone", sort=Pick(ZONES), label="Time zone", required=True, example="Asia/Singapore"),
        Field(
            name="effective_from",
            sort=Moment("timezone"),
            label="In force from",
            required=True,
            example="2026-01-01T00:00:00+08:00",
            begins="from",
            says="{} on",
        ),
        Field(
            name="eppf",
            sort=Amount(),
            label="Points for one unit of money",
            required=True,
            example="0.30",
            begins="each unit of money",
            says="earns {} points",
        ),
        Field(
            name="rounding",
            sort=Choice([Option(each.value, each.value.replace("_", " ")) for each in Rounding]),
            label="Rounding",
            required=True,
            example=next(iter(Rounding)).value,
            begins="rounded",
        ),
        Field(
            name="expiry_months",
            sort=Whole(1, MOST_EXPIRY_MONTHS),
            label="Months until points lapse",
            required=True,
            example=12,
            begins="points lapse",
            says="after {} month(s)",
        ),
        Field(
            name="expiry",
            sort=Choice(
                [
                    Option(Expiry.ACTIVITY.value, "all together, when the member was not active for so long"),
                    Option(Expiry.LIFETIME.value, "each award so long after it was given"),
                ]
            ),
            label="Points lapse",
            usual="all together, when the member was not active for so long",
            begins="they lapse",
        ),
        Field(
            name="on_shortfall",
            sort=Choice(
                [
                    Option(OnShortfall.NEGATIVE.value, "the balance becomes negative"),
                    Option(OnShortfall.CLIP.value, "the balance ends at 0"),
                ]
            ),
            label="When points to take back are spent",
            usual="the balance becomes negative",
            begins="when points to take back are spent,",
        ),
        Field(
            name="vests_after_days",
            sort=Whole(1, MOST_VESTING_DAYS),
            label="Days until points can be spent",
            help="Of a transaction's points: the time in which it may be refunded.",
            usual="Points can be spent at once.",
            begins="points of a transaction can be spent",
            says="after {} day(s)",
        ),
        _multipliers("verticals", "Verticals", "vertical", {"food": "1.5", "ride": "1"}),
        _multipliers("payment_types", "Payment types", "payment type", {"wallet": "2", "cash": "1"}),
        _multipliers("tiers", "Tiers", "tier", {BASE_TIER: "1", "gold": "1.5"}),
        Field(
            name="fixed_awards",
            sort=Entries(Text(), Whole(0, MAX_POINTS), "kind of award"),
            label="Fixed awards, in points",
            usual="None.",
            begins="fixed awards",
        ),
        Field(
            name="tier_policy",
            sort=Group(
                [
                    Field(
                        name="period_months",
                        sort=Whole(1, 12),
                        label="Counted over so many months",
                        help="1, 2, 3, 4, 6 or 12.",
                        begins="tiers are counted",
                        says="over {} month(s)",
                    ),
                    Field(
                        name="thresholds",
                        sort=Entries(Pick("tiers"), Whole(1, MAX_POINTS), "threshold"),
                        label="Points that make a tier",
                        begins="a tier takes",
                    ),
                ]
            ),
            label="How tiers are reached",
        ),
        Field(
            name="point_value",
            sort=Group(
                [
                    Field(
                        name="money",
                        sort=Amount(),
                        label="Money that a point pays",
                        help="In the currency above.",
                        begins="at a till a point pays",
                    ),
                    Field(
                        name="step",
                        sort=Amount(),
                        label="Smallest amount that points pay",
                        help="What points pay is a multiple of it.",
                        usual="0.01",
                        begins="points pay multiples of",
                    ),
                ]
            ),
            label="What points pay at a till",
        ),
    ],
    panels=[
        ("Where and when", ["scope", "program", "currency", "timezone", "effective_from"]),
        ("What a transaction earns", ["eppf", "rounding", "verticals", "payment_types", "tiers", "vests_after_days"]),
        ("How points lapse", ["expiry_months", "expiry", "on_shortfall"]),
        ("Fixed awards", ["fixed_awards"]),
        ("Tiers", ["tier_policy"]),
        ("What points pay", ["point_value"]),
    ],
)


def card_choices(document: Mapping[str, Any], _: object) -> Choices:
    tiers = document.get("tiers")
    names = [str(each) for each in tiers if each != BASE_TIER] if isinstance(tiers, Mapping) else []
    return Choices(lists={"tiers": [Option(each, each) for each in names], ZONES: zone_options(document.get("scope"))})
