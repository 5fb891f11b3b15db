"""`abacus journeys report`: what became of the members of a journey, by node, day and arm."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from abacus.cli.journeys.family import journey_desk
from abacus.cli.terminal.answer import Answer, Columns, Shown, Table
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.periods import DayFrom, DayTo, days_of
from abacus.engage.campaigns.decide.interval import Interval
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.report import ArmLine, DayLine, JourneyReport, NodeLine, against_control
from abacus.engage.journeys.report import report_document


async def report_journey(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    version: Annotated[int | None, typer.Option(metavar="N", help="This version alone.")] = None,
    begin: DayFrom = None,
    end: DayTo = None,
) -> Answer:
    """Report how many members came to each node, went on, wait there now, and left, and how many did what the goal is.

    A day is one of the journey's clock.
    """
    async with at_desk(journey_desk) as (desk, at):
        days = days_of(begin, end, at.clock.now())
        history = [each.document for each in await desk.versions(name)]
        found = await desk.report(history, days, version)
    journey = history[-1]
    return Answer(report_document(journey, found, days), *_shown(journey, found))


def _shown(journey: Journey, found: JourneyReport) -> Iterator[str | Shown]:
    nodes: Columns[NodeLine] = {
        "node": lambda each: each.node,
        "came": lambda each: each.came,
        "of entries": lambda each: "-" if each.share is None else f"{each.share:.0%}",
        "passed": lambda each: each.passed,
        "waiting now": lambda each: each.waiting,
        "left": lambda each: _reasons(each.left),
    }
    yield Table.of(journey.name, found.nodes, nodes)
    days: Columns[DayLine] = {
        "day": lambda each: str(each.day),
        "version": lambda each: f"@{each.version}",
        "node": lambda each: each.node,
        "entered": lambda each: each.entered,
        "came": lambda each: each.came,
        "passed": lambda each: each.passed,
        "left": lambda each: _reasons(each.left),
    }
    yield Table.of("By day", found.days, days)
    if found.arms:
        arms: Columns[ArmLine] = {
            "arm": lambda each: each.arm,
            "members": lambda each: each.members,
            "conversions": lambda each: each.conversions,
            "share at 95 %": lambda each: _percent(each.interval),
            "against control": lambda each: _percent(against_control(each, found.arms)),
        }
        yield Table.of("Arms", found.arms, arms)
    if journey.goal is not None:
        yield f"{found.converted:,} of {found.entered:,} did what the goal is: {_percent(found.interval)} at 95 %"
    yield f"{found.entered:,} entered, {found.inside:,} are inside, {sum(found.left.values()):,} left"


def _reasons(left: Mapping[str, int]) -> str:
    return ", ".join(f"{why}: {members:,}" for why, members in left.items()) or "-"


def _percent(interval: Interval | None) -> str:
    return "-" if interval is None else f"{interval.low * 100:+.1f} to {interval.high * 100:+.1f} %"
