"""The form of programmes: what people fill in, and what they can choose from. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.core.ids import PROGRAM_PATTERN
from abacus.core.points import MAX_POINTS
from abacus.documents.form.heading import FROM_AND_UNTIL, WHAT_AND_WHERE, term_fields
from abacus.documents.form.types import (
    Amount,
    Branch,
    Choices,
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
from abacus.exchanges.decide.partner_form import CARRIER, SIGN_IN
from abacus.exchanges.decide.programme import SIDES
from abacus.exchanges.decide.programme_reader import MAX_RATIO
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.pricing.decide.likely import likely_values
from abacus.signals.facts.decide.counter_sides import COUNTER
from abacus.signals.rules.decide.choices import side

_ABOUT: Final = {
    "member": "the member",
    "segment": "segments",
    "counter": "counters",
    "external": "services",
    "exchange": "the exchange",
}
_CAPS: Final = Group(
    [
        Field(name="member_day", sort=Whole(1, MAX_POINTS), label="A member in a day", says="{} a member in a day"),
        Field(
            name="member_month", sort=Whole(1, MAX_POINTS), label="A member in a month", says="{} a member in a month"
        ),
        Field(name="day", sort=Whole(1, MAX_POINTS), label="All in a day", says="{} in a day"),
        Field(name="ever", sort=Whole(1, MAX_POINTS), label="Altogether", says="{} altogether"),
    ]
)


def _terms(giver: str, taker: str, price: str, *more: Field) -> Group:
    return Group(
        [
            Field(name="give", sort=Whole(1, MAX_RATIO), label=f"So many points of {giver}", required=True),
            Field(name="get", sort=Whole(1, MAX_RATIO), label=f"buy so many points of {taker}", required=True),
            Field(name="minimum", sort=Whole(1, MAX_POINTS), label="At least", required=True),
            Field(name="multiple", sort=Whole(1, MAX_POINTS), label="In multiples of", usual="1"),
            Field(name="maximum", sort=Whole(1, MAX_POINTS), label="At most at once", required=True),
            Field(
                name="price",
                sort=Amount(),
                label="Price of a point",
                help=f"What {price} for each point that is credited.",
                required=True,
            ),
            *more,
            Field(
                name="caps",
                sort=_CAPS,
                label="At most, in points of the house",
                usual="No limit but that of an exchange.",
            ),
        ]
    )


_MONEY: Final = Group(
    [
        Field(name="currency", sort=Text(pattern="[A-Z]{3}"), label="Currency", required=True, says="in {}"),
        Field(name="tax_code", sort=Text(), label="Tax code", required=True, says="tax code {}"),
        OneOf(
            "paid",
            "When the house pays",
            [
                Branch(
                    "in advance",
                    [
                        Field(
                            name="alert_below",
                            sort=Amount(),
                            label="Tell below",
                            required=True,
                            says="in advance, told below {}",
                        )
                    ],
                ),
                Branch(
                    "afterwards",
                    [
                        Field(
                            name="credit_limit",
                            sort=Amount(),
                            label="Up to",
                            required=True,
                            says="afterwards, up to {}",
                        )
                    ],
                ),
            ],
        ),
    ]
)
_FEE: Final = Field(
    name="fee",
    sort=Whole(0, MAX_POINTS),
    label="Fee in points",
    help="What the member pays beside the points that are exchanged.",
    usual="None.",
)
PROGRAMME_FORM: Final = Form(
    [
        *term_fields("skymiles", "Points to miles of Skyline, and back"),
        Field(
            name="partner",
            sort=Pick("partners"),
            label="Partner",
            help="Its keys and its webhook secret sign what both houses say.",
            required=True,
            begins="With",
            example="skyline",
        ),
        Field(
            name="program",
            sort=Text(pattern=PROGRAM_PATTERN, listed="programs"),
            label="Points of the house",
            required=True,
            begins="exchanges",
            example="GRP",
        ),
        Field(
            name="unit",
            sort=Text(),
            label="Points of the partner",
            help="What the partner calls them.",
            required=True,
            begins="against",
            example="miles",
        ),
        Field(
            name="out",
            sort=_terms("the house", "the partner", "the house pays the partner", _FEE),
            label="Points go out",
            usual="None go out.",
            begins="out:",
            says=lambda value, _: _told(value),
            example={
                "give": 5,
                "get": 2,
                "minimum": 1_000,
                "multiple": 500,
                "maximum": 100_000,
                "price": "0.012",
                "caps": {"member_day": 100_000, "day": 5_000_000},
            },
        ),
        Field(
            name="in",
            sort=_terms("the partner", "the house", "the partner pays the house"),
            label="Points come in",
            usual="None come in.",
            begins="in:",
            says=lambda value, _: _told(value),
            example={
                "give": 2,
                "get": 3,
                "minimum": 1_000,
                "multiple": 100,
                "maximum": 50_000,
                "price": "0.004",
            },
        ),
        Field(
            name="quote_for",
            sort=Length(),
            label="A quote holds for",
            usual="10m",
            begins="a quote holds for",
            says="{}",
        ),
        Field(
            name="late_after",
            sort=Length(),
            label="Late after",
            help="Without an answer by then people are told.",
            usual="24h",
            begins="late after",
            says="{}",
        ),
        Field(
            name="cancel_after",
            sort=Length(),
            label="Cancelled after",
            help="Without an answer by then the partner is asked to refuse it for ever.",
            usual="Never by itself.",
            begins="cancelled after",
            says="{}",
            example="72h",
        ),
        Field(
            name="reverses_for",
            sort=Length(),
            label="The partner takes back for",
            usual="It cannot be undone.",
            begins="taken back for",
            says="{}",
        ),
        Field(
            name="cooling_off",
            sort=Length(),
            label="Waits after linking",
            usual="None.",
            begins="a new link waits for",
            says="{}",
            example="1d",
        ),
        Field(
            name="review_above",
            sort=Whole(1, MAX_POINTS),
            label="A person looks above",
            help="In points of the house.",
            usual="Nobody looks.",
            begins="a person looks above",
            says="{} point(s)",
            example=50_000,
        ),
        Field(
            name="when",
            sort=Rule("timezone"),
            label="Who may exchange",
            usual="Every member.",
            begins="if",
            example={"operator": "in", "lhs": "member.tier", "rhs": ["gold", "platinum"]},
        ),
        Field(
            name="carrier",
            sort=CARRIER,
            label="Carrier",
            required=True,
            begins="carried by",
            example={"url": "https://loyalty.skyline.example/abacus"},
        ),
        Field(
            name="oauth",
            sort=SIGN_IN,
            label="Members sign in at the partner",
            help="By OAuth: a sign-in links the account.",
            usual="An account is linked by its number alone.",
            begins="members sign in",
        ),
        Field(
            name="money",
            sort=_MONEY,
            label="Money",
            required=True,
            begins="settled",
            example={"currency": "SGD", "tax_code": "ZR", "alert_below": "20000"},
        ),
    ],
    panels=[
        WHAT_AND_WHERE,
        FROM_AND_UNTIL,
        ("With whom", ["partner", "program", "unit", "carrier", "oauth"]),
        ("What is exchanged", ["out", "in"]),
        ("Who may exchange", ["when", "cooling_off", "review_above"]),
        ("How long it may take", ["quote_for", "late_after", "cancel_after", "reverses_for"]),
        ("How it is settled", ["money"]),
    ],
)


def programme_choices(document: Mapping[str, Any], around: ExchangePublications) -> Choices:
    """What is published now, for a draft that may have any faults."""
    country = str(document.get("country", ""))
    card = around.cards.get(country)
    programs = [card] if card is not None else list(around.cards.values())
    likely = {**likely_values(country, around.cards), "exchange.country": sorted(around.cards)}
    return Choices(
        lists={
            "countries": options(sorted(around.cards)),
            ZONES: zone_options(country, sorted({each.card.timezone for each in around.cards.values()})),
            "partners": options(sorted(around.partners)),
            "programs": options(sorted({each.card.program for each in programs})),
        },
        sides=_sides(around, likely),
    )


def _sides(around: ExchangePublications, likely: Mapping[str, Sequence[str]]) -> Mapping[str, Side]:
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


def _told(terms: object) -> str:
    if not isinstance(terms, Mapping):
        return str(terms)
    parts = [f"{terms.get('give')} buy {terms.get('get')}", f"{terms.get('minimum')} to {terms.get('maximum')} at once"]
    if "multiple" in terms:
        parts.append(f"in multiples of {terms['multiple']}")
    parts.append(f"at {terms.get('price')} a point")
    if "fee" in terms:
        parts.append(f"with a fee of {terms['fee']} points")
    if isinstance(caps := terms.get("caps"), Mapping):
        parts.append("at most " + ", ".join(f"{most} {_CAP_WORDS.get(name, name)}" for name, most in caps.items()))
    return ", ".join(parts)


_CAP_WORDS: Final = {
    "member_day": "a member in a day",
    "member_month": "a member in a month",
    "day": "in a day",
    "ever": "altogether",
}
