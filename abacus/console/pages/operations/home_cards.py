"""On the first page: what is wrong now, what is set aside, and the person's tasks that run or failed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import orjson

from abacus.console.decide.alarms import Alarm
from abacus.console.decide.remedies import remedy_of
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import State
from abacus.console.pages.operations.errands import Task, task_of
from abacus.console.pages.operations.quarantine import HeldGroup, held_groups
from abacus.console.pages.operations.state import operations
from abacus.console.watch.store import WatchStore
from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role
from abacus.platform.quarantine.store import QuarantineStore, Which
from abacus.platform.quarantine.types import HeldItem

_TASKS: Final = 3
_LATELY: Final = timedelta(days=1)
_LOOKED_AT: Final = 200


@dataclass(frozen=True)
class Held:
    """Messages that are set aside, by reason. `of`: the countries of the person, who may not open them; None: all, for
    a person who may.
    """

    groups: Sequence[HeldGroup]
    of: Sequence[str] | None


async def _wrong(call: Call) -> Sequence[Alarm] | None:
    """Nothing where all is well and was, but for people who run the house: they are told so."""
    known = await call.rooms[WatchStore].fresh_alarms(call.now) if call.may(Deed.SEE, None) else None
    alarms = (await operations(call)).alarms if known is None else known
    return alarms or ([] if call.may_somewhere(Deed.RUN_JOBS) else None)


async def _held(call: Call) -> Held | None:
    if call.may(Deed.SEE, None):
        groups: Sequence[HeldGroup] = await held_groups(call)
        return Held(groups, None) if groups else None
    countries = call.countries(Deed.SEE) or ()
    found = await call.rooms[QuarantineStore].list(Which(), limit=_LOOKED_AT)
    counts = Counter(each.item.reason for each in found if _country(each) in countries)
    groups = [HeldGroup(reason, count, remedy_of(reason)) for reason, count in counts.most_common()]
    return Held(groups, countries) if groups else None


async def _tasks(call: Call) -> Sequence[Task] | None:
    found = await call.rooms[ErrandStore].all(call.countries(Deed.SEE), after=None, limit=_LOOKED_AT)
    mine = [each for each in found if each.asked_by == call.actor.name and call.now - each.asked_at < _LATELY]
    return [task_of(each) for each in mine if each.state.is_open or each.state is State.FAILED][:_TASKS] or None


def _failed(tasks: Sequence[Task]) -> str | None:
    failed = sum(each.state is State.FAILED for each in tasks)
    return f"{failed} of your tasks failed" if failed else None


def _country(held: HeldItem) -> str | None:
    """The country that a message names, if it can be read."""
    try:
        body = orjson.loads(held.item.body)
    except ValueError:
        return None
    country = body.get("country") if isinstance(body, dict) else None
    return country if isinstance(country, str) else None


CARDS: Final = (
    HomeCard("wrong", "What is wrong", "home/wrong.html", _wrong, {Role.OPERATOR: 0, Role.ADMIN: 1}, usual=30),
    HomeCard("quarantine", "Set aside", "home/quarantine.html", _held, {Role.OPERATOR: 2, Role.ADMIN: 3}, usual=40),
    HomeCard("tasks", "Your tasks", "home/tasks.html", _tasks, usual=10, waits=_failed),
)
