"""The form of offers: what people fill in. Pure."""

from typing import Final

from abacus.core.points import MAX_POINTS
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.form.heading import WHAT_AND_WHERE, WHEN_IT_RUNS, heading_fields
from abacus.documents.form.types import (
    Amount,
    Branch,
    Choice,
    Either,
    Field,
    Fixed,
    Form,
    Group,
    OneOf,
    Option,
    Pick,
    Rows,
    Rule,
    Text,
    Whole,
)
from abacus.engage.limits.decide.limit_form import bounds, limited
from abacus.engage.offers.decide.figure_reader import MOST_PIECES
from abacus.engage.offers.decide.offer import POOL
from abacus.engage.offers.decide.offer_reader import CODE_PATTERN
from abacus.engage.offers.decide.payer import PAID_BY
from abacus.engage.offers.decide.scope_reader import MOST_VALUES

CATEGORIES: Final = "categories"  # the list of those that the country has


def _cap(sort: Amount | Whole = Amount()) -> Field:  # noqa: B008  # a value, which never changes
    return Field(name="cap", sort=sort, label="At most", help="Empty: without a cap.", says="at most {}")


_BENEFIT: Final = OneOf(
    "gives",
    "What it gives",
    [
        Branch(
            "a percentage off",
            [Field(name="percent", sort=Amount(), label="Percent off", required=True, says="{} % off"), _cap()],
        ),
        Branch(
            "an amount off",
            [
                Field(name="amount_off", sort=Amount(), label="Amount off", required=True, says="{} off the line"),
                _cap(),
            ],
        ),
        Branch(
            "a fixed price",
            [Field(name="fixed_price", sort=Amount(), label="Price", required=True, says="{} for each piece"), _cap()],
        ),
        Branch(
            "a free item",
            [Field(name="free_item", sort=Fixed(value=True), label="Free", says="one piece is free"), _cap()],
        ),
        Branch(
            "more points",
            [
                Field(
                    name="points_times",
                    sort=Amount(),
                    label="Times the points",
                    required=True,
                    says="{} times the points",
                ),
                _cap(Whole(1, MAX_POINTS)),
            ],
        ),
        Branch(
            "points besides",
            [
                Field(
                    name="points_plus",
                    sort=Whole(1, MAX_POINTS),
                    label="Points besides",
                    required=True,
                    says="{} point(s) besides",
                ),
                _cap(Whole(1, MAX_POINTS)),
            ],
        ),
    ],
)
_VALUES: Final = (
    Field(
        name="products",
        sort=Rows(Text(), "product", MOST_VALUES),
        label="Products",
        help="As callers name them.",
        says="the products {}",
    ),
    Field(name="merchants", sort=Rows(Text(), "merchant", MOST_VALUES), label="Merchants", says="the merchants {}"),
    Field(name="brands", sort=Rows(Text(), "brand", MOST_VALUES), label="Brands", says="the brands {}"),
    Field(
        name="categories",
        sort=Rows(Text(listed=CATEGORIES), "category", MOST_VALUES),
        label="Categories",
        help="With all that is below them.",
        says="the categories {}",
    ),
)
_WHERE: Final = (
    Field(
        name="places",
        sort=Rows(Text(), "place", MOST_VALUES),
        label="Places",
        help="What is bought elsewhere does not get it.",
        says="at the places {}",
    ),
    Field(name="regions", sort=Rows(Text(), "region", MOST_VALUES), label="Regions", says="in the regions {}"),
)
_SCOPE: Final = Group(
    [
        OneOf(
            "items",
            "Items",
            [
                Branch("those named", _VALUES),
                Branch("all", [Field(name="everything", sort=Fixed(value=True), label="All items", says="all items")]),
            ],
        ),
        *_WHERE,
        Field(name="except", sort=Group([*_VALUES, *_WHERE]), label="But not", begins="but not"),
    ]
)


def _gate(sort: Amount | Whole, least: str, below: str) -> Group:
    return Group(
        [
            Field(name="from", sort=sort, label="From", says=least),
            Field(name="below", sort=sort, label="Below", says=below),
        ]
    )


_BY_CODE: Final = Field(
    name="audience", sort=Fixed("code"), label="By code", required=True, begins="For", says="who has a code"
)


def _stands(stack: object) -> str:
    kind, _, group = str(stack).partition(":")
    if group:
        return f"in the group {group}, beside offers of other groups"
    return "beside all others" if kind == "always" else "alone in a basket"


OFFER_FORM: Final = Form(
    [
        *heading_fields("lunch_20", "A fifth off lunch, at most 5"),
        OneOf(
            "who",
            "For whom",
            [
                Branch(
                    "everybody",
                    [
                        Field(
                            name="audience",
                            sort=Fixed("public"),
                            label="Everybody",
                            required=True,
                            example="public",
                            begins="For",
                            says="everybody",
                        )
                    ],
                ),
                Branch(
                    "members who are invited",
                    [
                        Field(
                            name="audience",
                            sort=Fixed("invitation"),
                            label="Invited",
                            required=True,
                            begins="For",
                            says="members who are invited",
                        )
                    ],
                ),
                Branch(
                    "members with a code of their own",
                    [
                        _BY_CODE,
                        Field(
                            name="codes",
                            sort=Fixed(POOL),
                            label="Single codes",
                            required=True,
                            begins="with",
                            says="single codes, each used once",
                        ),
                    ],
                ),
                Branch(
                    "members who know the code",
                    [
                        _BY_CODE,
                        Field(
                            name="code",
                            sort=Text(pattern=CODE_PATTERN),
                            label="Public code",
                            help="The same for everybody.",
                            required=True,
                            begins="with",
                            says="the code {}",
                        ),
                    ],
                ),
            ],
        ),
        Field(
            name="benefit",
            sort=Group([_BENEFIT]),
            label="Benefit",
            required=True,
            example={"percent": "20", "cap": "5"},
            begins="It gives",
        ),
        Field(name="scope", sort=_SCOPE, label="Scope", required=True, example={"everything": True}, begins="on"),
        Field(
            name="price",
            sort=_gate(Amount(), "a piece costs {} or more", "a piece costs less than {}"),
            label="Price of a piece",
            help="Items with another price do not get it.",
            begins="if",
        ),
        Field(
            name="quantity",
            sort=_gate(Whole(1, MOST_PIECES), "{} piece(s) or more", "fewer than {} pieces"),
            label="Pieces",
            help="Of one line.",
            begins="if",
        ),
        Field(
            name="basket_minimum",
            sort=Amount(),
            label="Basket of at least",
            help="The sum of all lines.",
            begins="if",
            says="the basket comes to {} or more",
        ),
        Field(
            name="when",
            sort=Rule("timezone"),
            label="If",
            help="What the member and the item have to be.",
            begins="if",
            example={"operator": "eq", "lhs": "member.tier", "rhs": "gold"},
        ),
        Field(
            name="limits",
            sort=limited(
                [
                    Field(
                        name="uses", sort=bounds("{} use(s)", Whole(1)), label="Uses", help="How often it is redeemed."
                    ),
                    Field(
                        name="money",
                        sort=bounds("{} of money", Amount()),
                        label="Money",
                        help="What is taken off altogether.",
                    ),
                ]
            ),
            label="At most",
            required=True,
            example={"uses": {"overall": 20_000, "member_day": 1}},
        ),
        Field(
            name="stack",
            sort=Either(
                [
                    (
                        "alone or always",
                        Choice([Option("alone", "alone in a basket"), Option("always", "beside all others")]),
                    ),
                    ("beside other groups", Text(pattern=f"group:{NAME_PATTERN}")),
                ]
            ),
            label="Beside other offers",
            help="In a group: group:NAME. It stands beside offers of other groups.",
            usual="alone in a basket",
            begins="stands",
            says=lambda value, _: _stands(value),
        ),
        Field(
            name="priority",
            sort=Whole(0, 1_000),
            label="Priority",
            help="Of offers that save as much, the higher goes first.",
            begins="with",
            says="priority {}",
        ),
        Field(
            name="paid_by",
            sort=PAID_BY,
            label="Paid by",
            help="Reports add up by it what was given.",
            required=True,
            example={"cost_centre": "marketing"},
            begins="paid by",
        ),
        Field(name="currency", sort=Pick("currencies"), label="Currency", usual="That of the country's card."),
    ],
    panels=[
        WHAT_AND_WHERE,
        WHEN_IT_RUNS,
        ("For whom", ["who"]),
        ("What it gives", ["benefit", "currency"]),
        ("On which items", ["scope", "price", "quantity", "basket_minimum"]),
        ("If", ["when"]),
        ("At most", ["limits"]),
        ("Beside other offers", ["stack", "priority"]),
        ("Who pays", ["paid_by"]),
    ],
)
