"""The form of journeys: what people fill in. Pure."""

from typing import Final

from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.form.heading import FROM_AND_UNTIL, WHAT_AND_WHERE, term_fields
from abacus.documents.form.types import (
    Branch,
    Choice,
    Entries,
    Field,
    Fixed,
    Flag,
    Form,
    Group,
    Length,
    Moment,
    OneOf,
    Option,
    Pick,
    Rows,
    Rule,
    Text,
    Whole,
    options,
)
from abacus.engage.journeys.decide.node_form import NODE, OCCASION, begins_at, told
from abacus.signals.events.types import VariableType

_ORDERS: Final = ["transactions/transaction.completed"]
_LIFE: Final = Choice(
    [
        Option("points.expiring", "points expire"),
        Option("tier.changed", "the tier changes"),
        Option("first.award", "the first award"),
    ]
)
_ENTRY: Final = Group(
    [
        OneOf(
            "how",
            "Members enter",
            [
                Branch(
                    "by an event",
                    [
                        Field(
                            name="on",
                            sort=Rows(Pick("events"), "type of event", 50),
                            label="Events",
                            says="by {}",
                            example=_ORDERS,
                        )
                    ],
                ),
                Branch(
                    "as members of a segment",
                    [
                        Field(name="segment", sort=Pick("segments"), label="Segment", says="from the segment {}"),
                        Field(
                            name="at",
                            sort=Moment("timezone"),
                            label="At",
                            usual="when the journey begins",
                            says="at {}",
                        ),
                        Field(
                            name="and_later",
                            sort=Flag(),
                            label="And members who join later",
                            says=lambda value, _: "and when they join later" if value else "only then",
                        ),
                    ],
                ),
                Branch(
                    "at a point in their lives",
                    [
                        Field(name="life", sort=_LIFE, label="When", says="when {}"),
                        Field(name="days", sort=Whole(1, 366), label="Days before", says="in {} day(s)"),
                    ],
                ),
                Branch(
                    "by the API, or from another journey",
                    [Field(name="api", sort=Fixed(value=True), label="By the API", says="by the API")],
                ),
            ],
        ),
        Field(name="when", sort=Rule("timezone"), label="If", begins="if"),
    ]
)
_AT_MOST: Final = Field(
    name="at_most", sort=Whole(1, 1_000), label="Visits at most", required=True, says="{} visit(s) at most"
)
_RE_ENTRY: Final = Group(
    [
        OneOf(
            "again_how",
            "Again",
            [
                Branch("never", [Field(name="again", sort=Fixed("never"), label="Never", says="never")]),
                Branch(
                    "after leaving",
                    [
                        Field(name="again", sort=Fixed("after_leaving"), label="After leaving", says="after leaving"),
                        _AT_MOST,
                    ],
                ),
                Branch(
                    "some time after the last entry",
                    [
                        Field(name="again", sort=Fixed("after"), label="After a while", says="after leaving"),
                        Field(
                            name="span", sort=Length(), label="How long", required=True, says="{} after the last entry"
                        ),
                        _AT_MOST,
                    ],
                ),
                Branch(
                    "one visit at once for each value",
                    [
                        Field(name="again", sort=Fixed("each"), label="For each value", says="for each value"),
                        Field(
                            name="of",
                            sort=Text(),
                            label="Of",
                            help="Such as var.order_id or context.order_id.",
                            required=True,
                            says="of {}",
                        ),
                        Field(
                            name="at_once",
                            sort=Whole(1, 100),
                            label="Visits at once",
                            required=True,
                            says="{} at once",
                        ),
                        _AT_MOST,
                    ],
                ),
            ],
        )
    ]
)
_EXIT: Final = Group(
    [
        Field(name="name", sort=Text(pattern=NAME_PATTERN), label="Name", required=True, says="{}"),
        Field(
            name="on",
            sort=Rows(Pick("events"), "type of event", 50),
            label="By events",
            usual="Whenever the member is looked at.",
            says="by {}",
        ),
        Field(name="when", sort=Rule("timezone"), label="If", begins="if"),
    ]
)
_GOAL: Final = Group(
    [
        *OCCASION,
        Field(name="within", sort=Length(), label="So long after the entry", required=True, says="within {}"),
    ]
)

JOURNEY_FORM: Final = Form(
    [
        *term_fields("welcome", "Welcome new members, and remind them of a second order"),
        Field(
            name="entry",
            sort=_ENTRY,
            label="Members enter",
            required=True,
            begins="Members enter",
            example={"on": _ORDERS},
        ),
        Field(
            name="context",
            sort=Entries(Text(), Choice(options(VariableType)), "field"),
            label="What the API gives",
            help="Rules and messages read it as context.NAME.",
            begins="with the context",
            says=lambda value, _: ", ".join(map(str, value)) if value else "of nothing",
        ),
        Field(name="re_entry", sort=_RE_ENTRY, label="And again", usual="Never.", begins="again"),
        Field(
            name="begin",
            sort=Pick("nodes"),
            label="The first node",
            required=True,
            begins="then",
            says=begins_at,
            example="hello",
        ),
        Field(
            name="nodes",
            sort=Entries(Text(pattern=NAME_PATTERN), NODE, "node", folded=True),
            label="Nodes",
            required=True,
            begins="node by node",
            says=told,
            example={
                "hello": {"do": {"tell": {"en": "Welcome\nYour first order is on its way."}}, "next": "second_order"},
                "second_order": {
                    "wait": {"for": "2d", "event": {"on": _ORDERS}},
                    "next": "thanks",
                    "otherwise": "reminder",
                },
                "thanks": {"do": {"award": {"points": 50}}, "next": "through"},
                "reminder": {"do": {"tell": {"en": "Hungry again?\nYour next order is waiting."}}, "next": "through"},
                "through": {"exit": "through"},
            },
        ),
        Field(
            name="exits",
            sort=Rows(_EXIT, "exit", 20),
            label="They leave at any time",
            help="By an event, or by a rule.",
            begins="leaves",
        ),
        Field(name="goal", sort=_GOAL, label="A conversion is", help="For the report.", begins="a conversion is"),
        Field(
            name="at_end",
            sort=Choice([Option("finish", "they finish"), Option("stop", "they stop")]),
            label="Members inside when it ends",
            usual="They finish.",
            begins="at the end",
            says="{}",
        ),
        Field(
            name="late",
            sort=Choice([Option("run", "is done when it goes on"), Option("skip", "is not done")]),
            label="What falls due while it is paused",
            usual="It is done when the journey goes on.",
            begins="what falls due while it is paused",
            says="{}",
        ),
        Field(
            name="not_later_than",
            sort=Length(),
            label="Not done if later than",
            begins="not done",
            says="if it is more than {} late",
        ),
        Field(
            name="quiet_hours",
            sort=Text(),
            label="Quiet hours",
            help="Such as 21:00-08:00, by the member's clock. No message is sent then.",
            begins="no messages",
            says="between {}",
        ),
        Field(
            name="languages",
            sort=Rows(Pick("locales"), "language", 20),
            label="Languages of all messages",
            usual="English.",
            begins="in",
            says="{}",
        ),
        Field(
            name="kind",
            sort=Choice([Option("marketing", "marketing"), Option("service", "service")]),
            label="Kind of messages",
            help="Caps count the messages of a kind over all journeys and campaigns.",
            usual="marketing",
            begins="as",
            says="{} messages",
        ),
        Field(name="priority", sort=Whole(0, 1_000), label="Priority", begins="with the priority", says="{}"),
    ],
    panels=[
        WHAT_AND_WHERE,
        FROM_AND_UNTIL,
        ("Who enters", ["entry", "context", "re_entry"]),
        ("The way", ["begin", "nodes"]),
        ("Who leaves", ["exits", "goal", "at_end"]),
        ("Late, and at night", ["late", "not_later_than", "quiet_hours"]),
        ("Messages", ["languages", "kind", "priority"]),
    ],
)
