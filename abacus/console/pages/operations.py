"""Operations: the workers, the relay, what is undelivered, the jobs that are overdue, and what is wrong with them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.console.web.routes import page
from abacus.oversight.status.decide.problems import problems
from abacus.oversight.status.jobs import overdue
from abacus.oversight.status.sources import Notes, notes, relay, undelivered
from abacus.oversight.status.types import Overdue, Problem, RelayState, Snapshot, Undelivered
from abacus.people.types.deed import Deed

# What no part of the page reads, and the command that does.
_ELSEWHERE: Final = {
    "queues": "the console is not connected to SQS; see abacus queues list",
    "groups": "the console is not connected to Kafka; see abacus status",
}


@dataclass(frozen=True, kw_only=True)
class OperationsPage(Page):
    """The state by parts. A part is None where the person may not see it: only jobs are of a country."""

    template: ClassVar[str] = "operations.html"
    problems: Sequence[Problem]
    workers: Part[Notes] | None
    relay: Part[RelayState] | None
    undelivered: Part[Undelivered] | None
    jobs: Part[Sequence[Overdue]]
    not_read: Mapping[str, str]


async def operations(call: Call) -> OperationsPage:
    pool, clock, watched = call.backends.pool, call.backends.clock, call.backends.watched
    jobs = call.part(overdue_for(call))
    if not call.may(Deed.SEE, None):
        late = await jobs
        return _page(call, None, None, None, late)
    return _page(
        call,
        *await asyncio.gather(
            call.part(notes(pool, clock)),
            call.part(relay(pool, watched.points_topic, clock)),
            call.part(undelivered(pool, clock)),
            jobs,
        ),
    )


async def overdue_for(call: Call) -> Sequence[Overdue]:
    """The overdue jobs of the countries that the person sees; those of no country for who sees all. Raises
    `Unavailable`.
    """
    countries = call.countries(Deed.SEE)
    found = await overdue(call.backends.pool, call.now)
    return [each for each in found if countries is None or each.country in countries]


def _page(
    call: Call,
    workers: Part[Notes] | None,
    relaying: Part[RelayState] | None,
    outside: Part[Undelivered] | None,
    jobs: Part[Sequence[Overdue]],
) -> OperationsPage:
    watched = call.backends.watched
    snapshot = Snapshot(
        at=call.now,
        workforce=workers.value.workforce if workers is not None and workers.value is not None else None,
        lags=None,
        queues=None,
        relay=relaying.value if relaying is not None else None,
        quarantine=None,
        undelivered=outside.value if outside is not None else None,
        overdue=jobs.value,
        unknown=_ELSEWHERE,
    )
    return OperationsPage(
        title="Operations",
        command="abacus status",
        problems=problems(snapshot, watched.pipeline, watched.queue_prefix),
        workers=workers,
        relay=relaying,
        undelivered=outside,
        jobs=jobs,
        not_read=_ELSEWHERE,
    )


SERVED: Final = (page("/operations", operations),)
