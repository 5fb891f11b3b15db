"""The first page: how points come, as charts, what waits for the person, and what was done today."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.console.decide.charts import Along, Chart, Line
from abacus.console.pages.operations.quarantine import HeldGroup, held_groups
from abacus.console.pages.operations.state import overdue_for
from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.core.status import Overdue
from abacus.intake.pulse.decide.steps import Beat, Range, beats
from abacus.intake.pulse.store import PulseStore
from abacus.people.store.approvals import Approvals
from abacus.people.store.audit import log
from abacus.people.types.approval import Approval, Status
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class Pulse:
    """The steps of the range, the last of which is under way."""

    range: Range
    beats: Sequence[Beat]

    @property
    def charts(self) -> Sequence[Chart]:
        """How many points came, and how long they took."""
        times = [int(each.since.timestamp()) for each in self.beats]
        half, nearly_all = [each.half_s for each in self.beats], [each.nearly_all_s for each in self.beats]
        points = [Line("points", [each.points for each in self.beats])]
        took = [Line("half within", half), Line("99 % within", nearly_all)]
        return (
            Chart("Points a minute", Along.MOMENTS, times, points),
            Chart("From a transaction to its points", Along.MOMENTS, times, took, "seconds", is_log=True),
        )

    @property
    def has_posted(self) -> bool:
        return any(each.awards for each in self.beats)


async def pulse(call: Call) -> Part[Pulse] | None:
    """Of the countries that the person sees; an hour, unless another range is asked for."""
    if not call.may_somewhere(Deed.SEE):
        return None
    asked = call.asked("range")
    range_ = Range(asked) if asked in set(Range) else Range.HOUR

    async def read() -> Pulse:
        store, countries = PulseStore(call.reading.pool), call.countries(Deed.SEE)
        sums = await store.since(range_.step, range_.begins(call.now), countries)
        return Pulse(range_, beats(sums, range_, call.now))

    return await call.part(read())


_MOST: Final = 20
_OF_PEOPLE: Final = (Deed.MANAGE_PEOPLE, Deed.SIGN_IN)


@dataclass(frozen=True)
class WaitingWork:
    """What waits longest, and how much waits in all."""

    first: Sequence[Approval]
    all: int


@dataclass(frozen=True)
class Done:
    """An actor's deed to a subject. The details are in the log, for people who may see it."""

    at: datetime
    actor: str
    deed: str
    subject: str
    country: str | None


@dataclass(frozen=True, kw_only=True)
class Home(Page):
    """A part is None where the person may not see it."""

    template: ClassVar[str] = "home.html"
    pulse: Part[Pulse] | None
    ranges: Sequence[Range] = tuple(Range)
    approvals: Part[WaitingWork] | None
    quarantine: Part[Sequence[HeldGroup]] | None
    jobs: Part[Sequence[Overdue]]
    today: Part[Sequence[Done]]
    since: datetime


async def home(call: Call) -> Home:
    midnight = call.now.astimezone(ZoneInfo(call.session.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    beating, approvals, quarantine, jobs, today = await asyncio.gather(
        pulse(call), _waiting(call), _held(call), call.part(overdue_for(call)), call.part(_done(call, midnight))
    )
    return Home(
        title="Home",
        command=f"abacus pulse --range {beating.value.range}"
        if beating is not None and beating.value is not None
        else None,
        pulse=beating,
        approvals=approvals,
        quarantine=quarantine,
        jobs=jobs,
        today=today,
        since=midnight,
    )


async def _waiting(call: Call) -> Part[WaitingWork] | None:
    """What this person may decide on: not what it asked for itself."""
    if not call.may_somewhere(Deed.APPROVE):
        return None

    async def read() -> WaitingWork:
        pending = await call.rooms[Approvals].all(status=Status.PENDING, countries=call.countries(Deed.APPROVE))
        open_ = [each for each in reversed(pending) if each.asked_by != call.actor.source]
        return WaitingWork(open_[:_MOST], len(open_))

    return await call.part(read())


async def _held(call: Call) -> Part[Sequence[HeldGroup]] | None:
    return await call.part(held_groups(call)) if call.may(Deed.SEE, None) else None


async def _done(call: Call, since: datetime) -> Sequence[Done]:
    hidden = () if call.may(Deed.MANAGE_PEOPLE, None) else _OF_PEOPLE
    entries = await log(call.reading.pool, since=since, countries=call.countries(Deed.SEE), without=hidden, limit=_MOST)
    return [Done(each.at, each.actor, each.deed, each.subject, each.country) for each in entries]
