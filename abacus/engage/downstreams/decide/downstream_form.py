"""The form of downstreams: what people fill in, and what they can choose from. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.core.time_zones import UTC
from abacus.documents.form.types import (
    Branch,
    Choice,
    Choices,
    Field,
    Fixed,
    Form,
    OneOf,
    Option,
    Pick,
    Text,
    Whole,
)
from abacus.documents.form.zones import ZONES, zone_options
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind, Otherwise
from abacus.engage.downstreams.decide.downstream_document import MOST_AT_ONCE, NAME_PATTERN, OWN
from abacus.signals.events.types import VariableType

_URL: Final = Field(
    name="url",
    sort=Text(),
    label="Address",
    help="https, and of the public internet.",
    required=True,
    example="https://coupons.example.com/abacus",
    begins="at",
)
_NAME: Final = Field(
    name="name",
    sort=Text(pattern=NAME_PATTERN),
    label="Name",
    help="Small letters, digits and underscores; it never changes.",
    required=True,
    example="coupons",
    begins="It is called",
)


def _kind(kind: DownstreamKind, says: str) -> Field:
    return Field(name="kind", sort=Fixed(kind.value), label="Kind", required=True, begins="This is", says=says)


DOWNSTREAM_FORM: Final = Form(
    [
        OneOf(
            "what",
            "What it is",
            [
                Branch("a webhook", [_kind(DownstreamKind.WEBHOOK, "a webhook"), _NAME, _URL]),
                Branch(
                    "a service",
                    [
                        _kind(DownstreamKind.EXTERNAL, "a service that rules ask"),
                        _NAME,
                        _URL,
                        Field(
                            name="type",
                            sort=Choice([Option(each.value, each.value) for each in VariableType]),
                            label="Type of its answers",
                            help="It never changes.",
                            required=True,
                            begins="it answers with",
                        ),
                        Field(
                            name="otherwise",
                            sort=Choice(
                                [
                                    Option(Otherwise.FALSE.value, "the condition does not hold"),
                                    Option(Otherwise.WAIT.value, "the event waits"),
                                ]
                            ),
                            label="Without an answer",
                            required=True,
                            begins="without an answer",
                        ),
                        Field(
                            name="timeout",
                            sort=Text(pattern="[1-9][0-9]{0,4}(ms|s)"),
                            label="A call may take",
                            help="10ms to 10s; 1s if it is left empty.",
                            begins="a call may take",
                        ),
                        Field(
                            name="at_once",
                            sort=Whole(1, MOST_AT_ONCE),
                            label="Events in one call",
                            help="100 if it is left empty.",
                            begins="with",
                            says="{} event(s) in one call",
                        ),
                    ],
                ),
                Branch(
                    "Abacus' own",
                    [
                        _kind(DownstreamKind.OWN, "a way out of Abacus' own"),
                        Field(name="name", sort=Pick("own"), label="Which", required=True, begins="It is called"),
                    ],
                ),
            ],
            help="Campaigns call a webhook, and ask a service; what is Abacus' own can be slowed down.",
        ),
        Field(
            name="pace",
            sort=Text(),
            label="Pace",
            help="How much it gets: 10/s, 600/m, or by hours 50/s@8-22, 10/s. Without one it gets all at once.",
            begins="at a pace of",
        ),
        Field(
            name="zone",
            sort=Pick(ZONES),
            label="Time zone of the hours",
            usual=UTC,
            begins="by the clock of",
        ),
    ],
    panels=[("What it is", ["what"]), ("How much it gets", ["pace", "zone"])],
)


def downstream_choices(_: Mapping[str, Any], __: object) -> Choices:
    return Choices(lists={"own": [Option(each, each) for each in OWN], ZONES: zone_options()})


def beside_others(document: Mapping[str, Any], published: Sequence[Downstream]) -> Mapping[str, Any]:
    """A draft that is begun, or copied: under a name that no other downstream has."""
    taken, name = {each.name for each in published}, str(document["name"])
    while name in taken:
        name = f"{name}_copy"
    return {**document, "name": name}
