"""Operations: workers, streams, queues, the relay, jobs, and what is wrong with them; and the settings in use."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple, TypeVar

from abacus.console.decide.alarms import Alarm, alarms_of
from abacus.console.decide.charts import Chart
from abacus.console.decide.waits import charts_of
from abacus.console.pages.operations.alarm_memory import AlarmMemory
from abacus.console.pages.operations.reading_memory import ReadingMemory
from abacus.console.web.calls import Call
from abacus.console.web.page import Events, Page
from abacus.console.web.parts import Part
from abacus.core.errors import Refused, Unavailable
from abacus.core.status import Cause, Overdue, Problem, Undelivered
from abacus.oversight.status.capabilities import figures_of, overdue, undelivered
from abacus.oversight.status.decide.alert_levels import (
    ALERT_LEVELS,
    BEHIND,
    OF_QUEUES,
    RELAY_BEHIND,
    WEBHOOKS_LATE,
)
from abacus.oversight.status.decide.problems import problems
from abacus.oversight.status.decide.settings import SettingInUse, settings_in_use
from abacus.oversight.status.sources import Group, Notes, groups_in_use, lags, notes, queues, relay
from abacus.oversight.status.types import GroupLag, QueueState, RelayState, Snapshot, Workforce
from abacus.people.types.deed import Deed
from abacus.platform.presence.presence_note import Presence
from abacus.platform.sqs.queue import Client


class Watched(NamedTuple):
    """What operations look at: the relay's topic, the prefix of the queues, and the workers that have to run; the
    consumer groups, where a broker is set, and the queues, where an address is.
    """

    points_topic: str
    queue_prefix: str
    pipeline: Sequence[str]
    groups: Sequence[Group] = ()
    kafka: str | None = None
    sqs: Client | None = None


COUNTED_TO: Final = 100_000  # transfers that are not published
_LOOK_EVERY_S: Final = 2.0
_LOOKS: Final = 300  # then the browser comes again
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
    workers: Part[Notes] | None = None
    groups: Part[Sequence[GroupLag]] | None = None
    queues: Part[Sequence[QueueState]] | None = None
    relay: Part[RelayState] | None = None
    undelivered: Part[Mapping[str, int | datetime | None]] | None = None
    jobs: Part[Sequence[Overdue]]
    not_read: Mapping[str, str] = field(default_factory=dict)
    counted_to: int = COUNTED_TO
    levels: Levels = field(default_factory=Levels)
    charts: Sequence[Chart] = ()


async def operations(call: Call) -> OperationsPage:
    pool, clock, watched = call.premises.pool, call.premises.clock, call.rooms[Watched]
    if not call.may(Deed.SEE, None):
        return _judged(call, OperationsPage(jobs=await call.part(overdue_for(call))), None)
    workers = await call.part(notes(pool, clock))
    heard = workers.value
    groups, queued, relaying, outside, jobs = await asyncio.gather(
        _lags(call, heard.workforce if heard is not None else None),
        queues_of(call, heard.oldest_s if heard is not None else {}),
        call.part(relay(pool, watched.points_topic, clock, most=COUNTED_TO)),
        call.part(undelivered(pool, clock)),
        call.part(overdue_for(call)),
    )
    figures = Part(None if outside.value is None else figures_of(outside.value), outside.down)
    page = OperationsPage(
        workers=workers,
        groups=groups,
        queues=queued,
        relay=relaying,
        undelivered=figures,
        jobs=jobs,
        charts=charts_of(call.rooms[ReadingMemory].readings),
    )
    return _judged(call, page, outside.value)


async def live(call: Call) -> Events:
    """An event whenever something has changed, as long as the person is in and may look."""
    return Events(_changes(call))


async def overdue_for(call: Call) -> Sequence[Overdue]:
    """The overdue jobs of the countries that the person sees; a person who sees all countries also sees jobs of none.
    Raises `Unavailable`.
    """
    countries = call.countries(Deed.SEE)
    found = await overdue(call.premises.pool, call.now)
    return [each for each in found if countries is None or each.country in countries]


async def _changes(call: Call) -> AsyncIterator[str]:
    before: OperationsPage | None = None
    for _ in range(_LOOKS):
        with suppress(Unavailable):
            if not await call.still_may(Deed.SEE):
                return
            now = await operations(call)
            if now != before:
                yield "changed"
            before = now
        await asyncio.sleep(_LOOK_EVERY_S)


async def _lags(call: Call, workforce: Workforce | None) -> Part[Sequence[GroupLag]] | None:
    watched = call.rooms[Watched]
    if watched.kafka is None:
        return None
    groups = groups_in_use(watched.groups, watched.pipeline, workforce)
    return await call.part(_within(lags(watched.kafka, groups), "kafka"))


async def queues_of(call: Call, oldest_s: Mapping[str, float]) -> Part[Sequence[QueueState]] | None:
    """None where no setting says where they are."""
    watched = call.rooms[Watched]
    if watched.sqs is None:
        return None
    return await call.part(_within(queues(watched.sqs, watched.queue_prefix, oldest_s), "sqs"))


async def _within(reading: Awaitable[Value], dependency: str) -> Value:
    """Raises `Unavailable`, also for what is not there."""
    try:
        async with asyncio.timeout(_WITHIN_S):
            return await reading
    except TimeoutError:
        raise Unavailable(dependency, f"no answer within {_WITHIN_S:.0f} s") from None
    except Refused as fault:
        raise Unavailable(dependency, str(fault)) from None


def _judged(call: Call, page: OperationsPage, outside: Sequence[Undelivered] | None) -> OperationsPage:
    """The page with the problems of what was read, and with what was not read."""
    watched = call.rooms[Watched]
    given = {"queues": watched.sqs, "groups": watched.kafka}
    unset = {name: why for name, why in _UNSET.items() if given[name] is None}
    heard = _value(page.workers)
    snapshot = Snapshot(
        at=call.now,
        workforce=heard.workforce if heard is not None else None,
        lags=_value(page.groups),
        queues=_value(page.queues),
        relay=_value(page.relay),
        quarantine=None,
        undelivered=outside,
        overdue=page.jobs.value,
        unknown=unset,
    )
    found = problems(snapshot, watched.pipeline, watched.queue_prefix)
    alarms: Sequence[Alarm] = alarms_of(found)
    if call.may(Deed.SEE, None):  # of a part of the house nothing is said to be over
        alarms = call.rooms[AlarmMemory].note(alarms, _unread(snapshot), call.now)
    levels = Levels({f"{watched.queue_prefix}{name}": ALERT_LEVELS[alert] for name, alert in OF_QUEUES.items()})
    return replace(page, problems=found, alarms=alarms, not_read=unset, levels=levels)


def _unread(snapshot: Snapshot) -> set[str]:
    """The causes that nobody could look for."""
    parts: list[tuple[object, set[str]]] = [
        (
            snapshot.workforce,
            {Cause.WORKER_AWAY, Cause.WORKER_STOPPED, Cause.WORKER_WAITING, Cause.WITHOUT, Cause.CARDS_OLD},
        ),
        (snapshot.lags, {Cause.LAG}),
        (snapshot.queues, {Cause.DEAD_LETTERS, Cause.QUEUE_OLD}),
        (snapshot.relay, {Cause.UNPUBLISHED}),
        (snapshot.undelivered, {Cause.UNDELIVERED}),
        (snapshot.overdue, {Cause.OVERDUE}),
    ]
    return {cause for part, causes in parts if part is None for cause in causes}


def _value(part: Part[Value] | None) -> Value | None:
    return part.value if part is not None else None


@dataclass(frozen=True, kw_only=True)
class SettingsPage(Page):
    """What processes were given."""

    template: ClassVar[str] = "settings.html"
    settings: Part[Sequence[SettingInUse]]


async def settings(call: Call) -> SettingsPage:
    return SettingsPage(title="Settings", command="abacus settings", settings=await call.part(_in_use(call)))


async def _in_use(call: Call) -> Sequence[SettingInUse]:
    premises = call.premises
    return settings_in_use(await Presence(premises.pool, premises.clock).all(), call.now)
