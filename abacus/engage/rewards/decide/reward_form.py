"""The form of rewards: what people fill in, and what they can choose from. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.core.points import MAX_POINTS
from abacus.documents.form.heading import WHAT_AND_WHERE, WHEN_IT_RUNS, heading_fields
from abacus.documents.form.languages import LANGUAGES
from abacus.documents.form.types import (
    Amount,
    Branch,
    Choices,
    Entries,
    Field,
    Form,
    Group,
    Length,
    OneOf,
    Pick,
    Rule,
    Side,
    Text,
    Whole,
    options,
)
from abacus.documents.form.zones import ZONES, zone_options
from abacus.engage.limits.decide.limit_form import bounds, limited
from abacus.engage.offers.decide.invited import given_in
from abacus.engage.offers.decide.payer import PAID_BY
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import SIDES
from abacus.pricing.decide.likely import likely_values
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.rules.decide.choices import side

_ABOUT: Final = {
    "member": "the member",
    "segment": "segments",
    "counter": "counters",
    "external": "services",
    "reward": "the reward",
}
_TEXTS: Final = Group(
    [
        Field(name="title", sort=Text(), label="Title", required=True, says="“{}”"),
        Field(name="description", sort=Text(lines=4), label="Description"),
        Field(name="terms", sort=Text(lines=4), label="Terms"),
    ]
)
_PRICE: Final = Group(
    [
        Field(name="points", sort=Whole(1, MAX_POINTS), label="Points", required=True, says="{} point(s)"),
        Field(
            name="tiers",
            sort=Entries(Pick("tiers"), Whole(1, MAX_POINTS), "tier"),
            label="By tier",
            help="Where it is lower than the usual points.",
            says=lambda value, _: _prices(value),
        ),
        Field(
            name="segments",
            sort=Entries(Pick("segments"), Whole(1, MAX_POINTS), "segment"),
            label="By segment",
            help="Where it is lower than the usual points.",
            says=lambda value, _: _prices(value),
        ),
        Field(
            name="money",
            sort=Group(
                [
                    Field(
                        name="least_points",
                        sort=Whole(0, MAX_POINTS),
                        label="At least these points",
                        required=True,
                        says="with at least {} point(s)",
                    ),
                    Field(
                        name="point_pays",
                        sort=Amount(),
                        label="For each missing point",
                        help="In the currency of the country.",
                        required=True,
                        says="{} of money for each missing point",
                    ),
                ]
            ),
            label="Partly in money",
            usual="Points alone.",
        ),
    ]
)
_DELIVERY: Final = Group(
    [
        OneOf(
            "way",
            "How it is delivered",
            [
                Branch(
                    "a code of a pool",
                    [
                        Field(name="pool", sort=Pick("pools"), label="Pool", required=True, says="a code of {}"),
                        Field(
                            name="low",
                            sort=Whole(0),
                            label="Tell when fewer codes are free",
                            says="told when fewer than {} are free",
                        ),
                    ],
                ),
                Branch(
                    "by a fulfiller",
                    [
                        Field(
                            name="webhook", sort=Pick("webhooks"), label="Webhook", required=True, says="the webhook {}"
                        ),
                        Field(
                            name="partner",
                            sort=Pick("partners"),
                            label="Partner who reports",
                            usual="People of the house report.",
                            says="{} reports",
                        ),
                        Field(
                            name="late_after",
                            sort=Length(),
                            label="Late after",
                            help="Without a report by then it is late, and somebody is told.",
                            says="late after {}",
                            usual="1h",
                        ),
                    ],
                ),
                Branch(
                    "an invitation to an offer",
                    [
                        Field(
                            name="offer",
                            sort=Pick("offers"),
                            label="Offer",
                            required=True,
                            says="an invitation to the offer {}",
                        )
                    ],
                ),
                Branch(
                    "points of another program",
                    [
                        Field(name="program", sort=Pick("programs"), label="Program", required=True, says="of {}"),
                        Field(
                            name="points",
                            sort=Whole(1, MAX_POINTS),
                            label="Points for a piece",
                            required=True,
                            says="{} point(s)",
                        ),
                    ],
                ),
            ],
        )
    ]
)
REWARD_FORM: Final = Form(
    [
        *heading_fields("coffee", "A coffee for loyal members"),
        Field(
            name="picture",
            sort=Text(),
            label="Address of a picture",
            help="https",
            example="https://example.com/coffee.png",
        ),
        Field(
            name="texts",
            sort=Entries(Pick("languages"), _TEXTS, "language", first="en"),
            label="What members read",
            required=True,
            begins="Members read",
            says=lambda value, _: _titles(value),
            example={"en": {"title": "A coffee"}},
        ),
        Field(
            name="price",
            sort=_PRICE,
            label="Price",
            required=True,
            begins="for",
            says=lambda value, _: _price(value),
            example={"points": 500},
        ),
        Field(
            name="delivery",
            sort=_DELIVERY,
            label="Delivery",
            required=True,
            begins="delivered",
            says=lambda value, _: _delivered(value),
            example={"pool": "coffee_codes", "low": 500},
        ),
        Field(
            name="when",
            sort=Rule("timezone"),
            label="Who may have it",
            usual="Every member.",
            begins="if",
            example={"operator": "in", "lhs": "member.tier", "rhs": ["gold", "platinum"]},
        ),
        Field(
            name="limits",
            sort=limited(
                [
                    Field(
                        name="uses",
                        sort=bounds("{} piece(s)", Whole(1)),
                        label="Pieces",
                        help="Altogether is the stock.",
                    )
                ]
            ),
            label="At most",
            required=True,
            example={"uses": {"overall": 20_000, "member": 1}},
        ),
        Field(
            name="paid_by",
            sort=PAID_BY,
            label="Paid by",
            usual="Nobody is named in reports.",
            begins="paid by",
            example={"cost_centre": "loyalty"},
        ),
    ],
    panels=[
        WHAT_AND_WHERE,
        WHEN_IT_RUNS,
        ("What members read", ["picture", "texts"]),
        ("Price and delivery", ["price", "delivery"]),
        ("Who may have it", ["when", "limits"]),
        ("Who pays", ["paid_by"]),
    ],
)


def reward_choices(document: Mapping[str, Any], around: RewardPublications) -> Choices:
    """What is published now, for a draft that may have any faults."""
    country = str(document.get("country", ""))
    card = around.cards.get(country)
    tiers = sorted(card.card.tiers) if card is not None else []
    likely = {**likely_values(country, around.cards), "reward.country": sorted(around.cards)}
    return Choices(
        lists={
            "countries": options(sorted(around.cards)),
            ZONES: zone_options(country, sorted({each.card.timezone for each in around.cards.values()})),
            "languages": LANGUAGES,
            "tiers": options(tiers),
            "segments": options(sorted(around.segments)),
            "pools": options(sorted(around.pools)),
            "webhooks": options(sorted(around.webhooks)),
            "partners": options(sorted(around.partners)),
            "offers": options(given_in(country, around.offers)),
            "programs": options(sorted(set(around.programs) - _own(country, around))),
        },
        sides=_sides(around, likely),
    )


def _sides(around: RewardPublications, likely: Mapping[str, Sequence[str]]) -> Mapping[str, Side]:
    return {
        text: side(
            text,
            type_,
            _ABOUT[text.partition(".")[0]],
            real=(),
            likely=likely.get(text, ()),
            argument="7d" if text.startswith(f"{COUNTER.name}.") else None,
        )
        for text, type_ in SIDES.there_are(around).items()
    }


def _own(country: str, around: RewardPublications) -> set[str]:
    card = around.cards.get(country)
    return set() if card is None else {card.card.program}


def _titles(texts: object) -> str:
    if not isinstance(texts, Mapping):
        return str(texts)
    return ", ".join(f"“{each.get('title')}” ({name})" for name, each in texts.items() if isinstance(each, Mapping))


def _price(price: object) -> str:
    if not isinstance(price, Mapping):
        return str(price)
    parts = [
        f"{price.get('points')} points",
        *(_prices(price[each]) for each in ("tiers", "segments") if each in price),
    ]
    if isinstance(money := price.get("money"), Mapping):
        least, pays = money.get("least_points"), money.get("point_pays")
        parts.append(f"or at least {least} points and {pays} of money for each that is missing")
    return ", ".join(parts)


def _delivered(delivery: object) -> str:
    if not isinstance(delivery, Mapping):
        return str(delivery)
    if "webhook" in delivery:
        return f"by the webhook {delivery['webhook']}, late after {delivery.get('late_after', '1h')}"
    if "offer" in delivery:
        return f"as an invitation to the offer {delivery['offer']}"
    if "program" in delivery:
        return f"as {delivery.get('points')} points of {delivery['program']}"
    return f"as a code of {delivery.get('pool')}"


def _prices(prices: object) -> str:
    if not isinstance(prices, Mapping):
        return str(prices)
    return ", ".join(f"{points} for {name}" for name, points in prices.items())
