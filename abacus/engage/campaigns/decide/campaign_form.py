"""The form of campaigns: what people fill in. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.core.points import MAX_POINTS
from abacus.documents.form.types import (
    Amount,
    Branch,
    Choice,
    Clock,
    Constant,
    Either,
    Entries,
    Field,
    Fixed,
    Form,
    Group,
    Hours,
    Length,
    Moment,
    OneOf,
    Option,
    Pick,
    Rows,
    Rule,
    Several,
    Text,
    Titled,
    Whole,
)
from abacus.documents.form.values import plain_words
from abacus.documents.form.zones import ZONES
from abacus.engage.limits.types import Scope

_NAME: Final = "[a-z][a-z0-9_]{0,63}"
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
_SCOPES: Final = {
    Scope.OVERALL: ("Altogether", "altogether"),
    Scope.DAY: ("A day", "a day"),
    Scope.MEMBER: ("For each member", "for each member"),
    Scope.MEMBER_DAY: ("For each member and day", "for each member and day"),
}


def _bounds(words: str, sort: Whole | Amount) -> tuple[Field, ...]:
    return tuple(
        Field(name=scope.value, sort=sort, label=label, begins="at most", says=f"{words} {said}")
        for scope, (label, said) in _SCOPES.items()
    )


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
_DEED: Final = OneOf(
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
        _DEED,
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
_LIMITS: Final = Group(
    [
        OneOf(
            "bounds",
            "Limits",
            [
                Branch(
                    "within limits",
                    [
                        Field(
                            name="runs",
                            sort=Group(_bounds("{} run(s)", Whole(1))),
                            label="Runs",
                            help="How often something is done.",
                        ),
                        Field(name="points", sort=Group(_bounds("{} point(s)", Whole(1))), label="Points"),
                        Field(
                            name="budget",
                            sort=Group(
                                [
                                    *_bounds("{} of budget", Amount()),
                                    Field(name="cost_of_point", sort=Amount(), label="A point costs"),
                                    Field(name="program", sort=Pick("programs"), label="Points of"),
                                    Field(name="currency", sort=Text(listed="currencies"), label="Currency"),
                                ]
                            ),
                            label="Budget",
                            help="In money, by what a point costs.",
                        ),
                    ],
                ),
                Branch(
                    "without any",
                    [Field(name="unlimited", sort=Fixed(True), label="Unlimited", begins="without", says="any limit")],  # noqa: FBT003  # a value of a document
                ),
            ],
        )
    ]
)

CAMPAIGN_FORM: Final = Form(
    [
        Field(
            name="name",
            sort=Text(pattern=_NAME),
            label="Name",
            help="Small letters, digits and underscores; it never changes.",
            required=True,
            example="third_order",
        ),
        Field(name="about", sort=Text(), label="What it is for", example="Bring people back for a third order"),
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
        Field(name="weekdays", sort=Several(_DAYS), label="Only on these days", begins="on", says="{}"),
        Field(
            name="hours",
            sort=Rows(Hours(), "span of hours", 10),
            label="Only at these hours",
            usual="At every hour.",
            begins="between",
            says="{} in {timezone}",
        ),
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
        Field(name="priority", sort=Whole(0, 1_000), label="Priority in its group"),
        Field(
            name="exclusive",
            sort=Text(pattern=_NAME),
            label="Exclusive group",
            help="Of the campaigns of a group only the first one runs for an event.",
            begins="alone",
            says=lambda value, table: f"in the group {value}, with priority {table.get('priority', 0)}",
        ),
    ],
    panels=[
        ("What and where", ["name", "about", "country", "timezone"]),
        ("When it runs", ["starts_at", "ends_at", "weekdays", "hours"]),
        ("When this happens", ["on", "when"]),
        ("Then", ["over", "steps"]),
        ("At most", ["limits"]),
        ("Trial of arms", ["split", "goal"]),
        ("Beside other campaigns", ["exclusive", "priority"]),
    ],
)


def _told(templates: object) -> str:
    if not isinstance(templates, Mapping) or not templates:
        return "tell the member"
    title = str(templates.get("en", next(iter(templates.values())))).partition("\n")[0]
    return f"tell the member “{title}” ({', '.join(sorted(map(str, templates)))})"


def _shares(split: object) -> str:
    return ", ".join(f"{arm} {share} %" for arm, share in split.items()) if isinstance(split, Mapping) else str(split)


def _moment(value: object) -> str:
    return plain_words(value).replace("T", " ")[:16]
