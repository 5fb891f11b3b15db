"""`abacus rewards backtest`: what a reward would have meant for the points of a window of the past. Nothing is done."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any, Final, NamedTuple

import typer

from abacus.cli.documents.chosen import chosen
from abacus.cli.offers.tried import counter_facts
from abacus.cli.rewards.family import reward_desk
from abacus.cli.terminal.answer import Answer, Shown, Table, counted
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.progress import percents
from abacus.cli.terminal.sheets import read_day
from abacus.core.errors import Refused
from abacus.engage.asking.facts import KnownMembers
from abacus.engage.downstreams.facts import ServiceFacts
from abacus.engage.limits.decide.limit_reader import limits_document
from abacus.engage.offers.decide.past import Window, in_its_time
from abacus.engage.rewards.admission import Admission
from abacus.engage.rewards.backtest import RewardBacktest, RewardLine
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import LIMIT_WORDS, FromPool, Reward
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.savers import Sums, savers
from abacus.oversight.backtest.points import had, moves
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.decide.assumption import AssumptionBook
from abacus.oversight.reports.decide.liability import Cost, cost
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, snapshot
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.members import SegmentFacts
from abacus.signals.facts.types import FactRegistry, NotNow
from abacus.signals.segments.sets import segment_sets

_A_DAY: Final = timedelta(days=1)
_DECIMALS: Final = 2
_ALL: Final = 100


class _Outcome(NamedTuple):
    """What came of a backtest, and what finance assumes that its points cost."""

    read: int
    lines: Sequence[RewardLine]
    sums: Sums
    gone_on: date | None
    program: str
    codes: int | None
    assumed: AssumptionBook
    today: date


async def backtest_reward(
    which: Annotated[
        str, typer.Argument(metavar="NAME[@N]|FILE", help="A reward, or the file of a draft.", show_default=False)
    ],
    begin: Annotated[str, typer.Option("--from", metavar="DAY", help="The first day, or month.", show_default=False)],
    end: Annotated[
        str, typer.Option("--to", metavar="DAY", help="The last day, or month, included.", show_default=False)
    ],
    take_rate: Annotated[
        int,
        typer.Option(
            min=1, max=_ALL, metavar="PERCENT", help="So many of a hundred members take it, drawn by their ids."
        ),
    ] = _ALL,
    any_time: Annotated[
        bool, typer.Option("--any-time", help="As if starts_at and ends_at were those of the window.")
    ] = False,
) -> Answer:
    """Say who could have afforded a reward in the past, and how much of it there would have been at most.

    Members take it as soon and as often as points, limits and stock let them; with --take-rate so many of them, and the
    others never. Days are counted in the reward's zone.
    """
    first, last = read_day(begin, "--from", last=False), read_day(end, "--to", last=True)
    if last < first:
        raise Refused(f"--to: {last} is before {first}")
    async with at_desk(reward_desk) as (desk, at):
        beside = await desk.around()
        written = await chosen(which, desk, beside)
        at.check(Deed.SEE, written.country)
        window = Window(_begin(first, written), _begin(last + _A_DAY, written))
        reward = in_its_time(written, window, any_time=any_time)
        held = Window(max(window.begin, reward.starts_at), min(window.end, reward.ends_at))
        offered = Offered(reward, beside)
        if offered.misfit is not None:
            raise Refused(f"{reward.name}: its rule does not fit what is published: {offered.misfit}")
        outcome = await _outcome(offered, held, take_rate, at.pool, beside)
    return Answer(_document(reward, held, take_rate, outcome), *_shown(reward, take_rate, outcome))


def _begin(day: date, reward: Reward) -> datetime:
    return datetime.combine(day, time(), reward.zone)


async def _outcome(offered: Offered, held: Window, take_rate: int, pool: Pool, beside: RewardPublications) -> _Outcome:
    reward = offered.reward
    place = reward.country, beside.cards[reward.country].card.program
    codes = beside.pools.get(reward.delivery.pool, 0) if isinstance(reward.delivery, FromPool) else None
    admission = Admission(segment_sets(pool).look, _facts(pool, beside))
    begin, last = (at.astimezone(reward.zone).date() for at in (held.begin, held.end - timedelta.resolution))
    with savers() as memory, percents() as progress:
        tested = RewardBacktest(offered, admission, memory, codes=codes, share=take_rate, first=begin)
        task = progress.add_task("points", total=(held.end - held.begin).total_seconds())
        async with snapshot(pool) as connection:
            async for page in had(connection, *place, held):
                tested.open(page)
            async for some in moves(connection, *place, held):
                await tested.take(some)
                progress.update(task, completed=(some[-1].at - held.begin).total_seconds())
            assumed = await assumptions(connection)
        await tested.reach(last)
        sums = memory.sums()
    return _Outcome(tested.read, tested.lines(), sums, tested.gone_on, place[1], codes, assumed, beside.now.date())


async def _not_asked(_: str, events: Sequence[Event]) -> Sequence[Value | NotNow | None]:
    """For a look at many members no service is asked: the values are missing."""
    return [None] * len(events)


def _facts(pool: Pool, beside: RewardPublications) -> FactRegistry[Any]:
    segments = SegmentFacts(segment_sets(pool).look)
    return FactRegistry(segments, KnownMembers(), counter_facts(pool, beside), ServiceFacts(_not_asked))


def _assumed(reward: Reward, take_rate: int, outcome: _Outcome) -> Iterator[str]:
    """What the figures stand on."""
    yield (
        "every member takes it as soon and as often as points, limits and stock let it: this is the most"
        if take_rate == _ALL
        else f"{take_rate} of 100 members, drawn by their ids, take it as soon and as often as they can; others never"
    )
    yield "a piece comes before what members really did with their points later, also before what they redeemed"
    yield "the rule is asked when points move, and at the beginning of the days on which a member waits for the reward"
    yield "limits begin unused; segments, counters and published rates are as they are now, and no service is asked"
    yield "a tier is that of the last award in the window, before the first one that of now; held points count as free"
    if reward.price.money is not None:
        yield "all is paid in points"
    if reward.hours:
        yield "hours of the day are left out of account"
    if outcome.codes is not None:
        yield f"the stock has the {outcome.codes:,} codes that are free now"


def _cost(points: int, reward: Reward, outcome: _Outcome) -> Cost:
    return cost(points, (outcome.program, reward.country), outcome.assumed, outcome.today, _DECIMALS)


def _document(reward: Reward, held: Window, take_rate: int, outcome: _Outcome) -> dict[str, Any]:
    lines, sums = outcome.lines, outcome.sums
    points = sum(each.points for each in lines)
    costs = _cost(points, reward, outcome)
    return {
        "reward": reward.label if reward.version else reward.name,
        "country": reward.country,
        "program": outcome.program,
        "held_from": held.begin,
        "held_to": held.end,
        "take_rate": take_rate,
        "read": outcome.read,
        "could_afford": sums.could,
        "first_could_afford": min((each.day for each in lines if each.could), default=None),
        "for_others": sums.others,
        "members": sums.had,
        "without": sums.without,
        "pieces": sum(each.pieces for each in lines),
        "most_of_a_member": sums.most,
        "gone_on": outcome.gone_on,
        "points": points,
        "liability": costs.amount,
        "liability_currency": costs.currency,
        "limits": limits_document(reward.limits, LIMIT_WORDS),
        "codes": outcome.codes,
        "assumed": [*_assumed(reward, take_rate, outcome)],
        "tiers": [{"tier": tier, **figures} for tier, figures in _by_tier(reward, outcome).items()],
        "days": [{**each._asdict(), "liability": _cost(each.points, reward, outcome).amount} for each in lines],
    }


def _by_tier(reward: Reward, outcome: _Outcome) -> Mapping[str, Mapping[str, int | Decimal | None]]:
    sums: dict[str, list[int]] = {}
    for each in outcome.lines:
        figures = sums.setdefault(each.tier, [0, 0, 0])
        for place, more in enumerate((each.could, each.pieces, each.points)):
            figures[place] += more
    return {
        tier: {
            "could": could,
            "pieces": pieces,
            "points": points,
            "liability": _cost(points, reward, outcome).amount,
        }
        for tier, (could, pieces, points) in sorted(sums.items())
    }


def _shown(reward: Reward, take_rate: int, outcome: _Outcome) -> Iterator[str | Shown]:
    lines, sums = outcome.lines, outcome.sums
    columns = ("day", "tier", "could first", "pieces", "points")
    yield Table(f"{reward.name}, as it would have been", columns, [[str(each.day), *each[1:]] for each in lines])
    costs = _cost(points := sum(each.points for each in lines), reward, outcome)
    worth = "" if costs.amount is None else f" (liability: {costs.amount} {costs.currency})"
    pieces = sum(each.pieces for each in lines)
    yield f"{counted(sums.could, 'member')} could have afforded it"
    yield (
        f"{counted(pieces, 'piece')} would have gone to {counted(sums.had, 'member')}, to one of them {sums.most:,},"
        f" for {points:,} points of {outcome.program}{worth}"
    )
    if sums.without:
        yield f"{counted(sums.without, 'member')} would have come too late for a piece"
    if sums.others:
        yield f"{counted(sums.others, 'member')} had the points, and it is not for them"
    if outcome.gone_on is not None:
        yield f"the last piece would have gone on {outcome.gone_on}"
    for each in _assumed(reward, take_rate, outcome):
        yield f"assumed: {each}"
