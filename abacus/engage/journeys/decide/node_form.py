"""The form of a node: what it is, and where it leads. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.form.types import (
    Branch,
    Choice,
    Clock,
    Either,
    Entries,
    Field,
    Flag,
    Group,
    Length,
    OneOf,
    Option,
    Pick,
    Rows,
    Rule,
    Text,
    Whole,
)
from abacus.engage.campaigns.decide.campaign_form import DEEDS

_WEEKDAYS: Final = Choice(
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
_EVENTS: Final = Rows(Pick("events"), "type of event", 50)
OCCASION: Final = (
    Field(name="on", sort=_EVENTS, label="Events", required=True, says="{}"),
    Field(name="when", sort=Rule("timezone"), label="If", begins="if"),
)
_NEXT: Final = Field(name="next", sort=Pick("nodes"), label="Then", says="then {}")
_UNTIL: Final = OneOf(
    "ends",
    "Until",
    [
        Branch(
            "some time has passed",
            [
                Field(
                    name="for",
                    sort=Length(),
                    label="How long",
                    help="2d are two days of the calendar, 48h are 48 hours.",
                    says="for {}",
                )
            ],
        ),
        Branch(
            "the clock shows an hour",
            [
                Field(name="at", sort=Clock(), label="Hour", says="until {}"),
                Field(name="weekday", sort=_WEEKDAYS, label="On", says="on {}"),
            ],
        ),
        Branch(
            "a moment of the context",
            [
                Field(name="until", sort=Text(), label="Field", help="Such as context.departs_at.", says="until {}"),
                Field(name="before", sort=Length(), label="So long before it", says="{} before it"),
                Field(name="after", sort=Length(), label="So long after it", says="{} after it"),
            ],
        ),
    ],
)
_OR: Final = OneOf(
    "or",
    "Or, if that is first",
    [
        Branch("until an event", [Field(name="event", sort=Group(OCCASION), label="Event", begins="or until")]),
        Branch(
            "until a rule holds",
            [
                Field(
                    name="rule",
                    sort=Group(
                        [
                            Field(name="when", sort=Rule("timezone"), label="Rule", required=True, begins="this holds"),
                            Field(name="every", sort=Length(), label="Looked at every", says="looked at every {}"),
                            Field(
                                name="after", sort=_EVENTS, label="Looked at after events of", says="looked at after {}"
                            ),
                        ]
                    ),
                    label="Rule",
                    begins="or until",
                )
            ],
        ),
        Branch("nothing else"),
    ],
)
_WAIT: Final = Group(
    [
        _UNTIL,
        Field(
            name="zone",
            sort=Text(),
            label="By the clock of",
            help="member, country, or the name of a zone.",
            usual="The member's own zone, or the country's.",
            says="by the clock of {}",
        ),
        _OR,
    ]
)
_TURNOFF: Final = Group(
    [
        Field(name="when", sort=Rule("timezone"), label="If", required=True, begins="if"),
        Field(name="next", sort=Pick("nodes"), label="Then", required=True, says="{}"),
    ]
)
_ARM: Final = Group(
    [
        Field(
            name="arm",
            sort=Text(pattern=NAME_PATTERN),
            label="Arm",
            help="In the arm control nothing is done.",
            required=True,
            says="{}",
        ),
        Field(name="share", sort=Whole(1, 100), label="Share of 100", required=True, says="{} %"),
        Field(name="next", sort=Pick("nodes"), label="Then", required=True, says="then {}"),
    ]
)
_VALUE: Final = Either([("a text", Text()), ("a number", Whole()), ("yes or no", Flag())])
_START: Final = Group(
    [
        Field(name="journey", sort=Pick("startable"), label="Journey", required=True, says="start the journey {}"),
        Field(
            name="context",
            sort=Entries(Text(), _VALUE, "field"),
            label="Its context",
            help="A value, var.NAME of the event of the entry, or context.NAME.",
        ),
    ]
)
_END: Final = Group(
    [Field(name="journey", sort=Pick("journeys"), label="Journey", required=True, says="end the journey {}")]
)
_DO: Final = Group(
    [
        OneOf(
            DEEDS.name,
            DEEDS.label,
            [
                *DEEDS.branches,
                Branch("start another journey", [Field(name="start", sort=_START, label="Start", required=True)]),
                Branch("end another journey", [Field(name="end", sort=_END, label="End", required=True)]),
            ],
        )
    ]
)

_VERBS: Final = {"wait": "waits", "branch": "branches", "split": "splits", "rate": "lets through", "exit": "leaves"}
NODE: Final = Group(
    [
        OneOf(
            "part",
            "What happens here",
            [
                Branch("something is done", [Field(name="do", sort=_DO, label="What is done")]),
                Branch("the member waits", [Field(name="wait", sort=_WAIT, label="Wait", begins="wait")]),
                Branch(
                    "a branch",
                    [
                        Field(
                            name="branch",
                            sort=Rows(_TURNOFF, "way", 50),
                            label="Ways",
                            help="The first one whose rule holds is taken.",
                            begins="to",
                        )
                    ],
                ),
                Branch(
                    "a split by chance",
                    [Field(name="split", sort=Rows(_ARM, "arm", 10), label="Arms", begins="split")],
                ),
                Branch(
                    "a rate",
                    [Field(name="rate", sort=Whole(1), label="Members a minute, at most", says="at most {} a minute")],
                ),
                Branch(
                    "the member leaves",
                    [Field(name="exit", sort=Text(pattern=NAME_PATTERN), label="For the reason", says="leave: {}")],
                ),
            ],
        ),
        _NEXT,
        Field(
            name="otherwise",
            sort=Pick("nodes"),
            label="Otherwise",
            help="Of a branch, and of a wait for an event or a rule.",
            says="otherwise {}",
        ),
    ]
)


def begins_at(value: object, table: Mapping[str, object]) -> str:
    nodes = table.get("nodes")
    return f"{value}, of {len(nodes) if isinstance(nodes, Mapping) else 0} nodes"


def told(value: object, _: object) -> str:
    """What happens at each node, and where it leads."""
    return "; ".join(_node(name, node) for name, node in value.items()) if isinstance(value, Mapping) else str(value)


def _node(name: object, node: object) -> str:
    if not isinstance(node, Mapping):
        return str(name)
    ways = [
        each.get("next") for kind in ("branch", "split") for each in node.get(kind, ()) if isinstance(each, Mapping)
    ]
    leads = [str(each) for each in (*ways, node.get("next"), node.get("otherwise")) if each is not None]
    to = f" → {', '.join(dict.fromkeys(leads))}" if leads else ""
    do = node.get("do")
    if isinstance(do, Mapping):
        return f"{name}: {', '.join(map(str, do))}{to}"
    return f"{name} {next((_VERBS[kind] for kind in _VERBS if kind in node), '')}{to}"
