"""`abacus journeys where`: where a member is in a journey, how it came there, and why it did not enter."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated

import typer

from abacus.cli.journeys.decisions import conditions
from abacus.cli.journeys.family import journey_desk
from abacus.cli.terminal.answer import Answer, Columns, Shown, Table
from abacus.cli.terminal.command_actor import at_desk
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.visit import Seen
from abacus.engage.journeys.whereabouts import Done, Step, VisitOf, Whereabouts, where_document


async def where_in_journey(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    member: Annotated[str, typer.Argument(metavar="MEMBER", show_default=False)],
) -> Answer:
    """Say where a member is in a journey and how it came there, or why it did not enter, each decision by its value."""
    async with at_desk(journey_desk) as (desk, _):
        history = [each.document for each in await desk.versions(name)]
        found = await desk.where(history, member)
    return Answer(where_document(name, member, found), *_shown(history[-1], member, found))


def _shown(journey: Journey, member: str, found: Whereabouts) -> Iterator[str | Shown]:
    for visit in found.visits:
        yield from _visit(journey, visit)
    if found.refusal is not None:
        version, at = found.refusal.version, _local(journey, found.refusal.at)
        yield f"{at}, not entered into {journey.name}@{version}: {found.refusal.why}{_in_words(found.refusal.seen)}"
    for each in found.undecided:
        then = "and people have to retry it" if each.due_at is None else f"tried again {_local(journey, each.due_at)}"
        what = f"not decided yet {'whether it is moved ' if each.moves else ''}by {each.key}"
        yield f"{_local(journey, each.at)}, {what}, {then}: {each.fault}"
    if not found.visits and found.refusal is None and not found.undecided:
        yield f"{member} was never in {journey.name}, and nothing came by which it could have entered"


def _visit(journey: Journey, visit: VisitOf) -> Iterator[str | Shown]:
    arm = "" if visit.arm is None else f", in the arm {visit.arm}"
    yield f"visit {visit.visit} on {journey.name}@{visit.version}{arm}, entered {_local(journey, visit.entered_at)}"
    for step in visit.steps:
        yield f"{_local(journey, step.at)}, {step.woken or 'moved'}: {_way(step)}"
        for stop in step.stops:
            yield from conditions(stop.node, stop.seen)
        yield from conditions(step.left or "", step.seen)
    if visit.done:
        done: Columns[Done] = {
            "node": lambda each: each.node,
            "does": lambda each: each.kind,
            "decided": lambda each: _local(journey, each.decided_at),
            "state": lambda each: each.state,
            "reason": lambda each: each.reason or "-",
        }
        yield Table.of("Decided", visit.done, done)
    if visit.converted_at is not None:
        yield f"the goal was reached at {_local(journey, visit.converted_at)}"
    if visit.left_at is not None:
        yield f"left at {_local(journey, visit.left_at)}: {visit.why}"
    elif visit.waits is not None:
        until = "" if visit.due is None else f", until {_local(journey, visit.due)} at the latest"
        yield f"waits at {visit.waits}{until}"


def _way(step: Step) -> str:
    stops = [f"{each.node}{f' ({each.way})' if each.way else ''}" for each in step.stops]
    stops += [f"not done: {step.not_done}"] if step.not_done is not None else []
    end = f"leaves: {step.left}" if step.left is not None else f"waits at {step.waits or '-'}"
    return " → ".join([*stops, end])


def _in_words(seen: Sequence[Seen]) -> str:
    """What did not hold."""
    return "".join(f"; {each.condition} was {each.value}" for each in seen if not each.holds)


def _local(journey: Journey, at: datetime) -> str:
    return f"{at.astimezone(journey.zone):%Y-%m-%d %H:%M:%S %Z}"
