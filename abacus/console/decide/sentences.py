"""A campaign as sentences: what happens, what has to hold, what is done, and how much of it. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, assert_never

from abacus.console.decide.campaign_rows import said
from abacus.core.points import plain
from abacus.engage.actions.decide.deeds import (
    Action,
    Award,
    Call,
    FixedPoints,
    MultipleOfEarned,
    OwnFormula,
    Publish,
    Tell,
)
from abacus.engage.campaigns.decide.campaign import Campaign, Period, Step
from abacus.engage.campaigns.decide.lengths import hours_text, length_text
from abacus.engage.limits.types import MICROS, Scope

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
OPERATORS: Final[Mapping[str, str]] = {
    "eq": "is",
    "ne": "is not",
    "lt": "is less than",
    "lte": "is at most",
    "gt": "is more than",
    "gte": "is at least",
    "in": "is one of",
    "between": "is between",
    "contains": "contains",
    "starts_with": "begins with",
    "exists": "is there",
}
_SCOPES: Final[Mapping[Scope, str]] = {
    Scope.OVERALL: "altogether",
    Scope.DAY: "a day",
    Scope.MEMBER: "for each member",
    Scope.MEMBER_DAY: "for each member and day",
}


@dataclass(frozen=True)
class Sentence:
    """A line of a campaign; `depth` says how far inside of others it stands."""

    begins: str
    says: str
    depth: int = 0


def sentences_of(campaign: Campaign) -> list[Sentence]:
    return [
        Sentence("When", f"{' or '.join('/'.join(each) for each in campaign.on)} happens in {campaign.country}"),
        *_times(campaign),
        *(_conditions(campaign.when, "if", 0) if campaign.when is not None else ()),
        *(sentence for step in campaign.steps for sentence in _step(campaign, step)),
        *_limits(campaign),
        *_rest(campaign),
    ]


def _times(campaign: Campaign) -> Iterator[Sentence]:
    if campaign.weekdays:
        yield Sentence("on", ", ".join(_DAYS[day] for day in sorted(campaign.weekdays)))
    if campaign.hours:
        yield Sentence("between", f"{' and '.join(map(hours_text, campaign.hours))} in {campaign.timezone}")


def _conditions(rule: Mapping[str, Any], begins: str, depth: int) -> Iterator[Sentence]:
    operator = str(rule["operator"])
    match operator:
        case "and" | "or":
            words = "all of these hold" if operator == "and" else "one of these holds"
            yield Sentence(begins, words, depth)
            for place, each in enumerate(rule["conditions"]):
                yield from _conditions(each, "" if not place else operator, depth + 1)
        case "not":
            yield Sentence(begins, "this does not hold", depth)
            yield from _conditions(rule["conditions"][0], "", depth + 1)
        case _:
            yield Sentence(begins, f"{rule['lhs']} {OPERATORS[operator]}{_constant(rule)}", depth)


def _constant(rule: Mapping[str, Any]) -> str:
    if "rhs" not in rule:
        return ""
    rhs = rule["rhs"]
    if rule["operator"] == "between":
        return f" {rhs[0]} and {rhs[1]}"
    return f" {said(rhs)}"


def _step(campaign: Campaign, step: Step) -> Iterator[Sentence]:
    arm = f", in the arm {step.variant}" if step.variant is not None else ""
    yield Sentence("then", f"{_count(campaign, step)}{arm}:")
    for action in step.actions:
        yield Sentence("", _action(action), 1)
        for name, rule in (("unless", action.unless), ("if still", action.if_still)):
            if rule is not None:
                yield from _conditions(rule, name, 2)


def _count(campaign: Campaign, step: Step) -> str:
    if step.at is None and step.every is None:
        return "each time"
    over = campaign.over
    within = (
        {
            Period.CAMPAIGN: "",
            Period.DAY: " of a day",
            Period.WEEK: " of a week",
            Period.MONTH: " of a month",
        }.get(over, "")
        if isinstance(over, Period)
        else f" within {length_text(over)}"
    )
    return f"at event {step.at}{within}" if step.at is not None else f"at every {step.every} events{within}"


def _action(action: Action) -> str:
    return f"{_deed(action)}{_when(action.after, action)}"


def _deed(action: Action) -> str:
    match action.deed:
        case Award(worth):
            return _award(worth)
        case Tell(templates):
            title = templates["en"].partition("\n")[0]
            return f"tell the member “{title}” ({', '.join(sorted(templates))})"
        case Call(webhook):
            return f"call the webhook {webhook}"
        case Publish(type_):
            return f"publish {'/'.join(type_)}"
        case _:
            assert_never(action.deed)


def _award(worth: FixedPoints | MultipleOfEarned | OwnFormula) -> str:
    match worth:
        case FixedPoints(points):
            return f"award {points:,} points"
        case MultipleOfEarned(multiple):
            return f"award {plain(multiple)} times what the transaction earned"
        case OwnFormula(own):
            factors = ", ".join(f"{name} {plain(value)}" for name, value in own.items())
            return f"award by the formula with {factors}"
        case _:
            assert_never(worth)


def _when(after: timedelta | None, action: Action) -> str:
    if after is not None:
        return f", {length_text(after)} later"
    return f", when the clock next shows {action.at:%H:%M}" if action.at is not None else ""


def _limits(campaign: Campaign) -> Iterator[Sentence]:
    if campaign.limits.unlimited:
        yield Sentence("without", "any limit")
    for scope, words in _SCOPES.items():
        bound = campaign.limits.of(scope)
        parts = [
            f"{most / MICROS:,.2f} of budget" if name == "cost" else f"{most:,} {name if most != 1 else name[:-1]}"
            for name, most in zip(bound._fields, bound, strict=True)
            if most is not None
        ]
        if parts:
            yield Sentence("at most", f"{' and '.join(parts)} {words}")


def _rest(campaign: Campaign) -> Iterator[Sentence]:
    if campaign.split:
        shares = ", ".join(f"{name} {share} %" for name, share in campaign.split)
        yield Sentence("split", f"{shares}; who comes to {campaign.goal} events is a conversion")
    if campaign.exclusive is not None:
        yield Sentence("alone", f"of the group {campaign.exclusive}, with priority {campaign.priority}")
