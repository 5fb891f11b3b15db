"""Operations: workers, streams, queues, the relay, jobs, and what is wrong with them."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple, TypeVar

from abacus.console.decide.alarms import Alarm, alarms_of
from abacus.console.decide.charts import Chart
from abacus.console.decide.waits import charts_of
from abacus.console.watch.store import WatchStore
from abacus.console.watch.watch import COUNTED_TO
from abacus.console.web.calls import Call
from abacus.console.web.changes import changes
from abacus.console.web.page import Events, Page
from abacus.console.web.parts import Part
from abacus.core.errors import Refused, Unavailable
from abacus.core.status import Overdue, Problem, Undelivered
from abacus.oversight.growth.sizes import noted_forecast
from abacus.oversight.growth.types import DiskForecast
from abacus.oversight.status.capabilities import figures_of, overdue, undelivered
from abacus.oversight.status.decide.alert_levels import (
    ALERT_LEVELS,
    BEHIND,
    OF_QUEUES,
    RELAY_BEHIND,
    WEBHOOKS_LATE,
)
from abacus.oversight.status.decide.problems import problems, unread
from abacus.oversight.status.sources import Places, groups_in_use, lags, queues, relay, workforce_of
from abacus.oversight.status.types import GroupLag, QueueState, RelayState, Snapshot, Workforce
from abacus.people.types.deed import Deed

_WITHIN_S: Final = 4.0
# What is not read without a setting, and the command that reads it.
_UNSET: Final = {
    "queues": "the console knows neither ABACUS_SQS_ENDPOINT_URL nor a region of AWS; see abacus queues list",
    "groups": "ABACUS_KAFKA_BOOTSTRAP is not set for the console; see abacus status",
}

Value = TypeVar("Value")


class Levels(NamedTuple):
    """Where alerts begin: by queue with its prefix, in seconds; of the relay and of webhooks, in seconds; and of
    streams, in messages.
    """

    queues: Mapping[str, int] = MappingProxyType({})
    relay: int = ALERT_LEVELS[RELAY_BEHIND]
    webhooks: int = ALERT_LEVELS[WEBHOOKS_LATE]
    messages: int = ALERT_LEVELS[BEHIND]


@dataclass(frozen=True, kw_only=True)
class OperationsPage(Page):
    """The state by parts. A part is None where the person may not see it, or no setting says where it is: only jobs are
    of a country.
    """

    template: ClassVar[str] = "operations.html"
    title: str = "Operations"
    command: str | None = "abacus status"
    problems: Sequence[Problem] = ()
    alarms: Sequence[Alarm] = ()
    workers: Part[Workforce] | None = None
    groups: Part[Sequence[GroupLag]] | None = None
    queues: Part[Sequence[QueueState]] | None = None
    relay: Part[RelayState] | None = None
    undelivered: Part[Mapping[str, int | datetime | None]] | None = None
    sizes: Part[DiskForecast | None] | None = None
    jobs: Part[Sequence[Overdue]]
    not_read: Mapping[str, str] = field(default_factory=dict)
    counted_to: int = COUNTED_TO
    levels: Levels = field(default_factory=Levels)
    charts: Sequence[Chart] = ()


async def operations(call: Call) -> OperationsPage:
    pool, clock, places = call.premises.pool, call.premises.clock, call.rooms[Places]
    if not call.may(Deed.SEE, None):  # of a part of the house nothing is said to be over
        page = OperationsPage(jobs=await call.part(overdue_for(call)))
        found = _problems(call, _snapshot(call, page, None))
        return replace(page, problems=found, alarms=alarms_of(found))
    workers = await call.part(workforce_of(pool, clock))
    sizes = await call.part(noted_forecast(pool, call.now, places.disk))
    groups, queued, relaying, outside, jobs, readings = await asyncio.gather(
        _lags(call, workers.value),
        queues_of(call, workers.value),
        call.part(relay(pool, places.points_topic, clock, most=COUNTED_TO)),
        call.part(undelivered(pool, clock)),
        call.part(overdue_for(call)),
        call.part(call.rooms[WatchStore].readings(call.now)),
    )
    given = {"queues": places.sqs, "groups": places.kafka}
    page = OperationsPage(
        workers=workers,
        groups=groups,
        queues=queued,
        relay=relaying,
        undelivered=Part(None if outside.value is None else figures_of(outside.value), outside.down),
        sizes=sizes,
        jobs=jobs,
        charts=charts_of(readings.value or ()),
        not_read={name: why for name, why in _UNSET.items() if given[name] is None},
        levels=Levels({f"{places.prefix}{name}": ALERT_LEVELS[alert] for name, alert in OF_QUEUES.items()}),
    )
    snapshot = _snapshot(call, page, outside.value)
    found = _problems(call, snapshot)
    alarms = alarms_of(found)
    noted = await call.part(call.rooms[WatchStore].note(alarms, unread(snapshot), call.now))
    return replace(page, problems=found, alarms=noted.value if noted.value is not None else alarms)


async def live(call: Call) -> Events:
    """An event whenever something has changed, as long as the person is in and may look."""
    return Events(changes(call, partial(operations, call)))


async def overdue_for(call: Call) -> Sequence[Overdue]:
    """The overdue jobs of the countries that the person sees; a person who sees all countries also sees jobs of none.
    Raises `Unavailable`.
    """
    countries = call.countries(Deed.SEE)
    found = await overdue(call.premises.pool, call.now)
    return [each for each in found if countries is None or each.country in countries]


async def queues_of(call: Call, workforce: Workforce | None) -> Part[Sequence[QueueState]] | None:
    """None where no setting says where they are."""
    places = call.rooms[Places]
    if places.sqs is None:
        return None
    oldest_s = workforce.oldest_s if workforce is not None else {}
    return await call.part(_within(queues(places.sqs, places.prefix, oldest_s), "sqs"))


async def _lags(call: Call, workforce: Workforce | None) -> Part[Sequence[GroupLag]] | None:
    places = call.rooms[Places]
    if places.kafka is None:
        return None
    return await call.part(_within(lags(places.kafka, groups_in_use(places, workforce)), "kafka"))


async def _within(reading: Awaitable[Value], dependency: str) -> Value:
    """Raises `Unavailable`, also for what is not there."""
    try:
        async with asyncio.timeout(_WITHIN_S):
            return await reading
    except TimeoutError:
        raise Unavailable(dependency, f"no answer within {_WITHIN_S:.0f} s") from None
    except Refused as fault:
        raise Unavailable(dependency, str(fault)) from None


def _snapshot(call: Call, page: OperationsPage, outside: Sequence[Undelivered] | None) -> Snapshot:
    """What the parts of the page know. What is set aside has a page of its own."""
    return Snapshot(
        at=call.now,
        workforce=_value(page.workers),
        lags=_value(page.groups),
        queues=_value(page.queues),
        relay=_value(page.relay),
        quarantine=None,
        undelivered=outside,
        overdue=page.jobs.value,
        unknown={},
        sizes=_value(page.sizes),
    )


def _problems(call: Call, snapshot: Snapshot) -> Sequence[Problem]:
    places = call.rooms[Places]
    return problems(snapshot, places.pipeline, places.prefix)


def _value(part: Part[Value] | None) -> Value | None:
    return part.value if part is not None else None
