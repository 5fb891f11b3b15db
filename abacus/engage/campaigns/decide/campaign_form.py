"""The form of campaigns: what people fill in. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.core.points import MAX_POINTS
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.form.heading import WHAT_AND_WHERE, WHEN_IT_RUNS, heading_fields
from abacus.documents.form.types import (
    Amount,
    Branch,
    Choice,
    Clock,
    Constant,
    Either,
    Entries,
    Field,
    Flag,
    Form,
    Group,
    Length,
    OneOf,
    Option,
    Pick,
    Rows,
    Rule,
    Text,
    Titled,
    Whole,
)
from abacus.engage.limits.decide.limit_form import bounds, limited

_NAME: Final = NAME_PATTERN
_AMOUNTS: Final = OneOf(
    "worth",
    "How many",
    [
        Branch("a number", [Field(name="points", sort=Whole(1, MAX_POINTS), label="Points", says="award {} point(s)")]),
        Branch(
            "a multiple of what the transaction earned",
            [Field(name="multiple", sort=Amount(), label="Times", says="award {} times what the transaction earned")],
        ),
        Branch(
            "by a formula of its own",
            [
                Field(
                    name="formula",
                    sort=Group(
                        [
                            Field(name="eppf", sort=Amount(), label="Points for one unit of money"),
                            Field(name="vertical", sort=Amount(), label="Times for the vertical"),
                            Field(name="cashless", sort=Amount(), label="Times for the payment type"),
                            Field(name="tier", sort=Amount(), label="Times for the tier"),
                        ]
                    ),
                    label="Formula",
                    help="What is left empty is as the rate card has it.",
                    says="award by the formula with {}",
                )
            ],
        ),
    ],
)
_GRANTED: Final = OneOf(
    "granted",
    "What is granted",
    [
        Branch(
            "an invitation to an offer",
            [
                Field(
                    name="offer",
                    sort=Pick("offers"),
                    label="Offer",
                    help="An offer by invitation.",
                    required=True,
                    says="invite to the offer {}",
                )
            ],
        ),
        Branch(
            "a reward, without points",
            [
                Field(
                    name="reward",
                    sort=Pick("rewards"),
                    label="Reward",
                    help="It is taken from the reward's stock and limits.",
                    required=True,
                    says="give the reward {}",
                )
            ],
        ),
    ],
)
DEEDS: Final = OneOf(
    "deed",
    "What is done",
    [
        Branch("award points", [Field(name="award", sort=Group([_AMOUNTS]), label="Award", required=True)]),
        Branch(
            "tell the member",
            [
                Field(
                    name="tell",
                    sort=Entries(Pick("locales"), Titled(), "language", first="en"),
                    label="Message",
                    help="English is for all other languages. {{points}}, {{count}} and {{event.NAME}} are filled in.",
                    required=True,
                    says=lambda value, _: _told(value),
                )
            ],
        ),
        Branch(
            "call a webhook",
            [Field(name="call", sort=Pick("webhooks"), label="Webhook", required=True, says="call the webhook {}")],
        ),
        Branch(
            "publish an event",
            [
                Field(
                    name="publish",
                    sort=Group(
                        [
                            Field(
                                name="type",
                                sort=Pick("published"),
                                label="Type of the event",
                                required=True,
                                says="publish {}",
                            ),
                            Field(
                                name="var",
                                sort=Entries(Text(), Constant("type"), "variable"),
                                label="Variables",
                                help="A value, or var.NAME for that of the event that happened.",
                            ),
                        ]
                    ),
                    label="Event",
                    required=True,
                )
            ],
        ),
        Branch(
            "grant an offer or a reward", [Field(name="grant", sort=Group([_GRANTED]), label="Grant", required=True)]
        ),
    ],
)
_WHEN_DONE: Final = OneOf(
    "later",
    "When",
    [
        Branch("after a while", [Field(name="after", sort=Length(), label="How much later", says="{} later")]),
        Branch(
            "at an hour of the day", [Field(name="at", sort=Clock(), label="Hour", says="when the clock next shows {}")]
        ),
        Branch("at once"),
    ],
)
_ACTION: Final = Group(
    [
        DEEDS,
        _WHEN_DONE,
        Field(
            name="unless",
            sort=Rule("timezone"),
            label="Unless by then",
            help="Looked at when it is due; only for what is done later.",
            begins="unless",
        ),
        Field(
            name="if_still",
            sort=Rule("timezone"),
            label="Only if by then",
            help="Looked at when it is due.",
            begins="if still",
        ),
    ]
)
_STEP: Final = Group(
    [
        OneOf(
            "count",
            "At which event",
            [
                Branch(
                    "at one of them", [Field(name="at", sort=Whole(1, 1_000_000), label="Number", says="at event {}")]
                ),
                Branch(
                    "at every few",
                    [Field(name="every", sort=Whole(1, 1_000_000), label="Every", says="at every {} events")],
                ),
                Branch("at each", says="each time"),
            ],
        ),
        Field(name="variant", sort=Text(listed="arms"), label="Only in the arm", says="in the arm {}"),
        Field(name="do", sort=Rows(_ACTION, "deed", 10), label="What is done", required=True),
    ]
)
_LIMITS: Final = limited(
    [
        Field(name="runs", sort=bounds("{} run(s)", Whole(1)), label="Runs", help="How often something is done."),
        Field(name="points", sort=bounds("{} point(s)", Whole(1)), label="Points"),
        Field(
            name="budget",
            sort=bounds(
                "{} of budget",
                Amount(),
                Field(name="cost_of_point", sort=Amount(), label="A point costs"),
                Field(name="program", sort=Pick("programs"), label="Points of"),
                Field(name="currency", sort=Text(listed="currencies"), label="Currency"),
            ),
            label="Budget",
            help="In money, by what a point costs.",
        ),
    ]
)

CAMPAIGN_FORM: Final = Form(
    [
        *heading_fields("third_order", "Bring people back for a third order"),
        Field(
            name="on",
            sort=Rows(Pick("events"), "type of event", 50),
            label="When this happens",
            required=True,
            example=["transactions/transaction.completed"],
            begins="When",
            says=lambda value, table: f"{' or '.join(map(str, value))} happens in {table.get('country')}",
        ),
        Field(
            name="when",
            sort=Rule("timezone"),
            label="If",
            begins="if",
            example={"operator": "eq", "lhs": "var.vertical", "rhs": "food"},
        ),
        Field(
            name="over",
            sort=Either(
                [
                    (
                        "a calendar time",
                        Choice([Option(each, f"a {each}") for each in ("campaign", "day", "week", "month")]),
                    ),
                    ("a window that slides", Length()),
                ]
            ),
            label="Events are counted over",
            usual="the whole campaign",
            begins="counted",
            says="over {}",
        ),
        Field(
            name="steps",
            sort=Rows(_STEP, "step", 20),
            label="Then",
            required=True,
            begins="then",
            example=[{"at": 3, "do": [{"award": {"points": 500}}]}],
        ),
        Field(
            name="limits",
            sort=_LIMITS,
            label="At most",
            required=True,
            example={"runs": {"overall": 20_000, "member": 1}},
        ),
        Field(
            name="split",
            sort=Entries(Text(pattern=_NAME), Whole(1, 100), "arm"),
            label="Arms",
            help="Shares of 100. In the arm control nothing is done.",
            usual="Everybody gets the same.",
            begins="split",
            says=lambda value, table: f"{_shares(value)}; a member with {table.get('goal', 2)} events is a conversion",
        ),
        Field(name="goal", sort=Whole(1, 1_000_000), label="A conversion is a member with so many events"),
        Field(
            name="priority",
            sort=Whole(0, 1_000),
            label="Priority",
            help="In its exclusive group, and where a cap leaves no room for the messages of all.",
        ),
        Field(
            name="exclusive",
            sort=Text(pattern=_NAME),
            label="Exclusive group",
            help="Of the campaigns of a group only the first one runs for an event.",
            begins="alone",
            says=lambda value, table: f"in the group {value}, with priority {table.get('priority', 0)}",
        ),
        Field(
            name="respects_holdout",
            sort=Flag(),
            label="Nothing for members in the holdout",
            help="The contact policy of the country says how many. Messages of campaigns never go to them.",
            begins="members in the holdout",
            says=lambda value, _: "get nothing" if value else "get everything but messages",
        ),
    ],
    panels=[
        WHAT_AND_WHERE,
        WHEN_IT_RUNS,
        ("When this happens", ["on", "when"]),
        ("Then", ["over", "steps"]),
        ("At most", ["limits"]),
        ("Trial of arms", ["split", "goal"]),
        ("Beside other campaigns", ["exclusive", "priority", "respects_holdout"]),
    ],
)


def _told(templates: object) -> str:
    if not isinstance(templates, Mapping) or not templates:
        return "tell the member"
    title = str(templates.get("en", next(iter(templates.values())))).partition("\n")[0]
    return f"tell the member “{title}” ({', '.join(sorted(map(str, templates)))})"


def _shares(split: object) -> str:
    return ", ".join(f"{arm} {share} %" for arm, share in split.items()) if isinstance(split, Mapping) else str(split)
