"""Who enters a journey: its time, its country, and how often a member may. Pure. A refusal is in words, for people who
ask why a member is not inside.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from abacus.engage.journeys.decide.entry import Again, LifeMoment, OfLife, ReEntry
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.waits import shifted
from abacus.signals.events.types import Event, Value

_VARIABLE: Final = "var."
_CONTEXT: Final = "context."


class Visits(NamedTuple):
    """The visits of a member to a journey in all its versions: how many there were, when the last one began, how many
    are going on, and the values by which these entered.
    """

    ever: int = 0
    last_entered_at: datetime | None = None
    inside: int = 0
    values_inside: Collection[str] = ()


def not_at(journey: Journey, event: Event) -> str | None:
    """Why nobody enters by this event; None where a member may."""
    at, how = event.occurred_at, journey.entry.how
    if event.member_id is None:
        return "the event has no member"
    if event.country not in {None, journey.country}:
        return f"the event is of {event.country}, the journey of {journey.country}"
    if isinstance(how, OfLife) and how.moment is LifeMoment.FIRST_AWARD and event.variables.get("seq") != 1:
        return "it is not the first award of its account"
    if at < journey.approved_at:
        return f"{journey.label} was approved at {journey.approved_at.astimezone(journey.zone).isoformat()}, after it"
    if not journey.starts_at <= at < journey.ends_at:
        return f"{journey.label} takes nobody in at {at.astimezone(journey.zone).isoformat()}"
    return None


def value_of_entry(journey: Journey, event: Event, context: Mapping[str, Value]) -> str | None:
    """The value of which there is one visit at once; None where the journey does not ask for one, or it is missing."""
    side = journey.re_entry.side
    if side is None:
        return None
    if side.startswith(_CONTEXT):
        value = context.get(side.removeprefix(_CONTEXT))
    else:
        value = event.variables.get(side.removeprefix(_VARIABLE))
    return None if value is None else str(value)


def not_again(journey: Journey, visits: Visits, value: str | None, now: datetime) -> str | None:
    """Why a member does not enter another time; None where it does."""
    rule = journey.re_entry
    if visits.ever >= rule.at_most:
        ever = "once" if visits.ever == 1 else f"{visits.ever} times"
        most = "once" if rule.at_most == 1 else f"{rule.at_most} times"
        return f"it was inside {ever}, and {most} is the most"
    if rule.again is Again.EACH:
        return _not_for(rule, visits, value)
    if visits.inside:
        return "it is inside"
    if rule.again is Again.AFTER and visits.last_entered_at is not None:
        free = shifted(visits.last_entered_at, rule.span, journey.zone)
        return f"it may enter again at {free.astimezone(journey.zone).isoformat()}" if now < free else None
    return None


def _not_for(rule: ReEntry, visits: Visits, value: str | None) -> str | None:
    if value is None:
        return f"{rule.side} is missing"
    if value in visits.values_inside:
        return f"it is inside for {rule.side} {value}"
    if visits.inside >= rule.at_once:
        return f"{visits.inside} of its visits go on, and {rule.at_once} at once is the most"
    return None
