"""When a wait is over, by exact calendars. Hours and minutes are elapsed time; days and clock times are of a zone's
calendar. Pure.

A clock time that a zone skips means the first moment after the gap; a clock time that comes twice means the first one.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from abacus.core.local_clock import moment_of
from abacus.engage.journeys.decide.moments import COUNTRY, MEMBER, After, NextClock, OfContext, Span, Until
from abacus.signals.events.types import Value

_DAY: Final = timedelta(days=1)
_MOST_DAYS: Final = 15  # a week, and another where a zone skips the day


def zone_of(named: str, *, member: ZoneInfo | None, country: ZoneInfo) -> ZoneInfo:
    """The zone that a document means."""
    if named == MEMBER:
        return member or country
    return country if named == COUNTRY else ZoneInfo(named)


def over_at(until: Until, entered: datetime, zone: ZoneInfo, context: Mapping[str, Value]) -> datetime:
    """When the wait of a member is over who came to it then. A field of the context that is no time raises
    `TypeError`: the context was judged before.
    """
    match until:
        case After(span):
            return shifted(entered, span, zone)
        case NextClock():
            return _next(until, entered, zone)
        case OfContext(field, span, before):
            moment = context[field]
            if not isinstance(moment, datetime):
                raise TypeError(f"context.{field} is no time")
            return shifted(moment, span, zone, back=before)


def shifted(moment: datetime, span: Span, zone: ZoneInfo, *, back: bool = False) -> datetime:
    """A moment so much later, or earlier."""
    sign = -1 if back else 1
    if not span.days:
        return moment.astimezone(UTC) + sign * span.elapsed
    local = moment.astimezone(zone).replace(tzinfo=None)
    there = local + sign * span.days * _DAY
    return moment_of(there.date(), there.time(), zone)


def _next(clock: NextClock, entered: datetime, zone: ZoneInfo) -> datetime:
    today = entered.astimezone(zone).date()
    for days in range(_MOST_DAYS):
        day = today + days * _DAY
        if clock.weekday in {None, day.weekday()}:
            moment = moment_of(day, clock.at, zone)
            if moment > entered:
                return moment
    raise ValueError(f"no {clock} after {entered.isoformat()}")
