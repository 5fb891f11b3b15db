"""`abacus campaigns backtest`: what a campaign would have done in a window of the past. Nothing is done."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import typer
from rich.progress import Progress

from abacus.cli.campaigns.campaign_simulate import facts_now, members_now, not_asked
from abacus.cli.campaigns.family import campaign_desk
from abacus.cli.documents.chosen import chosen
from abacus.cli.terminal.answer import Answer, Shown, Table, counted
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.progress import bars
from abacus.cli.terminal.shell import moment, settings
from abacus.core.errors import Refused
from abacus.engage.actions.decide.deeds import Grant, Granted
from abacus.engage.campaigns.backtest import Backtest
from abacus.engage.campaigns.decide.calendar import BacktestWindow, within
from abacus.engage.campaigns.decide.campaign import LIMIT_WORDS, Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.shelf import shelf
from abacus.engage.limits.decide.limit_reader import limits_document
from abacus.engage.limits.types import MICROS
from abacus.oversight.reports.assumption_store import AssumptionStore
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.oversight.reports.decide.liability import cost
from abacus.people.types.deed import Deed
from abacus.platform.kafka.offsets import begins_since, ends_of, partitions_of
from abacus.platform.kafka.ranges import read_ranges
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.substream import followed_topics, reader_of
from abacus.signals.places.locating import locate_now

_DECIMALS = 2


class _Granted(NamedTuple):
    """How often an offer or a reward would have been granted. `points` are what members pay for such rewards, `worth`
    is their cost by finance's assumption.
    """

    grant: Grant
    times: int
    points: int | None
    worth: Decimal | None


class _Outcome(NamedTuple):
    """What came of a backtest, with its cost by finance's assumption."""

    tested: Backtest
    beside: Sequence[str]  # the versions of other campaigns of its exclusive group that ran then
    members: int
    most_points: int
    liability: Decimal | None
    granted: Sequence["_Granted"]
    currency: str | None


async def backtest_campaign(
    which: Annotated[
        str, typer.Argument(metavar="NAME[@N]|FILE", help="A campaign, or the file of a draft.", show_default=False)
    ],
    begin: Annotated[str, typer.Option("--from", metavar="TIME", help="With an offset.", show_default=False)],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="With an offset.", show_default=False)],
    any_time: Annotated[
        bool, typer.Option("--any-time", help="As if starts_at and ends_at were those of the window.")
    ] = False,
) -> Answer:
    """Say what a campaign would have done with what the topics still hold of a window: who, how often, at what cost.

    It runs in its own times, beside the campaigns of its exclusive group that ran then. Limits begin unused, and what
    rules look up is as it is now.
    """
    window = BacktestWindow(moment("--from", begin), moment("--to", end))
    if window.end <= window.begin:
        raise Refused("--to: not after --from")
    async with at_desk(campaign_desk) as (desk, at):
        beside = await desk.around()
        written = await chosen(which, desk, beside)
        at.check(Deed.SEE, written.country)
        campaign = _in_its_time(written, window, any_time=any_time)
        outcome = await _outcome(campaign, window, desk, at.pool, beside)
    return Answer(_document(campaign, window, outcome), *_shown(campaign, outcome))


def _in_its_time(campaign: Campaign, window: BacktestWindow, *, any_time: bool) -> Campaign:
    """Raises `Refused` where it does not run in the window."""
    own = replace(campaign, starts_at=window.begin, ends_at=window.end) if any_time else campaign
    found = within(own, window)
    if found is None:
        first, last = campaign.starts_at.astimezone(campaign.zone), campaign.ends_at.astimezone(campaign.zone)
        raise Refused(
            f"{campaign.name} runs from {first.isoformat()} to {last.isoformat()}, which is not in the window;"
            " --any-time leaves that out of account"
        )
    return found


async def _outcome(
    campaign: Campaign, window: BacktestWindow, desk: CampaignDesk, connections: Pool, beside: Publications
) -> _Outcome:
    book = CardBook(await CardStore(connections).all())
    others = await desk.beside(campaign, window)
    with shelf() as memory:
        facts, known = facts_now(connections, beside, not_asked), members_now(connections)
        tested = Backtest(campaign, others, memory, around=beside, book=book, facts=facts, members=known)
        types: dict[str, set[str]] = {}
        for source, type_ in (each for one in (campaign, *others) for each in one.on):
            types.setdefault(source, set()).add(type_)
        locate = await locate_now(connections)
        with bars() as progress:
            for topic in sorted(followed_topics(types, beside.sources, settings().events_topic)):
                reader = reader_of(topic, types, beside.sources, settings().events_topic, locate)
                await _read(topic, reader, window, tested, progress)
        members, most = memory.members()
    points = sum(line.points for line in tested.lines())
    program = book.in_force(campaign.country, beside.now).card.program
    assumed = AssumptionBook(await AssumptionStore(connections).all())
    place, today = (program, campaign.country), beside.now.date()
    costs = cost(points, place, assumed, today, _DECIMALS)
    granted = []
    for grant, times in tested.granted():
        head = beside.rewards.get(grant.name) if grant.what is Granted.REWARD else None
        price = None if head is None else head.points * times
        worth = None if price is None else cost(price, place, assumed, today, _DECIMALS).amount
        granted.append(_Granted(grant, times, price, worth))
    return _Outcome(tested, [each.label for each in others], members, most, costs.amount, granted, costs.currency)


async def _read(
    topic: str,
    reader: EventReader,
    window: BacktestWindow,
    tested: Backtest,
    bars: Progress,
) -> None:
    """Reads what the topic has from the begin of the window on; late events may stand behind its end."""
    bootstrap = settings().required("kafka_bootstrap")
    partitions = [each.partition for each in await partitions_of(bootstrap, topic)]
    if not partitions:
        return
    begins = (await begins_since(bootstrap, topic, partitions, [window.begin]))[window.begin]
    ranges = await _ranges(bootstrap, topic, begins)
    task = bars.add_task(topic, total=sum(map(len, ranges.values())))
    async with aclosing(read_ranges(bootstrap, topic, ranges)) as batches:
        async for records in batches:
            await tested.take(records, reader)
            bars.advance(task, len(records))


async def _ranges(bootstrap: str, topic: str, begins: Mapping[int, int]) -> Mapping[int, range]:
    ends = await ends_of(bootstrap, topic)
    return {partition: range(begin, ends.get(partition, begin)) for partition, begin in begins.items()}


def _document(campaign: Campaign, window: BacktestWindow, outcome: _Outcome) -> dict[str, Any]:
    lines = outcome.tested.lines()
    return {
        "campaign": campaign.label if campaign.version else campaign.name,
        "from": window.begin,
        "to": window.end,
        "ran_from": campaign.starts_at,
        "ran_to": campaign.ends_at,
        "beside": outcome.beside,
        "read": outcome.tested.read,
        "faulty": outcome.tested.faulty,
        "events": sum(line.events for line in lines),
        "members": outcome.members,
        "most_points_of_a_member": outcome.most_points,
        "points": sum(line.points for line in lines),
        "cost": sum(line.cost for line in lines) / MICROS,
        "liability": outcome.liability,
        "currency": outcome.currency,
        "granted": [
            {each.grant.what.value: each.grant.name, "times": each.times, "points": each.points, "worth": each.worth}
            for each in outcome.granted
        ],
        "limits": limits_document(campaign.limits, LIMIT_WORDS),
        "days": [{**line._asdict(), "cost": line.cost / MICROS} for line in lines],
    }


def _shown(campaign: Campaign, outcome: _Outcome) -> Iterator[str | Shown]:
    lines = outcome.tested.lines()
    rows = [[line.day, line.variant or "-", line.outcome, line.events, line.points] for line in lines]
    yield Table(f"{campaign.name}, as it would have been", ["day", "arm", "outcome", "events", "points"], rows)
    points = sum(line.points for line in lines)
    yield (
        f"{counted(outcome.tested.read, 'event')} read, {counted(outcome.members, 'member')} got {points:,} points,"
        f" one of them {outcome.most_points:,}"
    )
    for each in outcome.granted:
        price = "" if each.points is None else f", for which members pay {each.points:,} points"
        worth = "" if each.worth is None else f" ({each.worth} {outcome.currency})"
        yield f"{each.grant.what} {each.grant.name}: granted {counted(each.times, 'time')}{price}{worth}"
    if outcome.beside:
        yield f"beside it in {campaign.exclusive}: {', '.join(outcome.beside)}"
    if outcome.liability is not None:
        yield f"liability: {outcome.liability} {outcome.currency}"
    if outcome.tested.faulty:
        yield f"{outcome.tested.faulty:,} messages could not be decided"
