"""`abacus offers backtest`: what an offer would have given for the purchases of a window of the past."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Annotated, Any, Final, NamedTuple

import typer

from abacus.cli.offers.family import offer_desk
from abacus.cli.offers.tried import chosen, counter_facts, rule_of
from abacus.cli.terminal.answer import Answer, Shown, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.progress import percents
from abacus.cli.terminal.sheets import read_day
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.engage.downstreams.facts import ServiceFacts
from abacus.engage.limits.decide.limit_reader import limits_document
from abacus.engage.offers.backtest import GIVEN, BacktestLine, InvitedAmong, OfferBacktest, PastSubject
from abacus.engage.offers.decide.offer import LIMIT_WORDS, Audience, Offer
from abacus.engage.offers.decide.past import Window, in_its_time, not_told
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.purchase import worth_of_a_point
from abacus.engage.offers.decide.report_parts import money_of
from abacus.engage.offers.desk import OfferDesk
from abacus.engage.offers.invitations import InvitationStore
from abacus.engage.offers.takers import MostOfAMember, takers
from abacus.ledger.store.read import LedgerReader
from abacus.oversight.backtest.purchases import purchases
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.decide.liability import Cost, cost
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool, snapshot
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.types import FactRegistry, NotNow
from abacus.signals.segments.sets import segment_sets

_A_DAY: Final = timedelta(days=1)
_DECIMALS: Final = 2


class _Outcome(NamedTuple):
    """What came of a backtest, with the cost of its points by finance's assumption. `everybody`: nobody is invited yet,
    so all members counted as invited.
    """

    tested: OfferBacktest
    most: MostOfAMember
    everybody: bool
    costs: Cost


async def backtest_offer(
    which: Annotated[
        str, typer.Argument(metavar="NAME[@N]|FILE", help="An offer, or the file of a draft.", show_default=False)
    ],
    begin: Annotated[str, typer.Option("--from", metavar="DAY", help="The first day, or month.", show_default=False)],
    end: Annotated[
        str, typer.Option("--to", metavar="DAY", help="The last day, or month, included.", show_default=False)
    ],
    any_time: Annotated[
        bool, typer.Option("--any-time", help="As if starts_at and ends_at were those of the window.")
    ] = False,
) -> Answer:
    """Say what an offer would have given for the purchases of the past, had each that it fits used it. Nothing is done.

    Days are counted in the offer's zone. Purchases are the transactions that earned points, in the order of their time.
    Limits begin unused, and what rules look up is as it is now.
    """
    first, last = read_day(begin, "--from", last=False), read_day(end, "--to", last=True)
    if last < first:
        raise Refused(f"--to: {last} is before {first}")
    async with actor() as at:
        desk = offer_desk(at)
        beside = await desk.around()
        written = await chosen(which, desk, at.pool, beside)
        at.check(Deed.SEE, written.country)
        window = Window(_begin(first, written), _begin(last + _A_DAY, written))
        offer = in_its_time(written, window, any_time=any_time)
        outcome = await _outcome(offer, window, desk, at.pool, beside)
    return Answer(_document(offer, window, outcome), *_shown(offer, outcome))


def _begin(day: date, offer: Offer) -> datetime:
    return datetime.combine(day, time(), offer.zone)


async def _outcome(offer: Offer, window: Window, desk: OfferDesk, pool: Pool, beside: OfferPublications) -> _Outcome:
    card = beside.cards[offer.country]
    invited = await _invited(offer, desk, pool)
    with takers() as memory, percents() as progress:
        tested = OfferBacktest(
            offer,
            rule_of(offer, beside),
            memory,
            facts=_facts(pool, beside),
            segments=segment_sets(pool).look,
            invited=invited,
            point_value=worth_of_a_point(card),
        )
        task = progress.add_task("purchases", total=(window.end - window.begin).total_seconds())
        async with snapshot(pool) as connection:
            async for page in purchases(connection, offer.country, offer.currency, window):
                await tested.take(page)
                progress.update(task, completed=(page[-1].at - window.begin).total_seconds())
            assumed = await assumptions(connection)
        most = memory.most()
    points = sum(each.points for each in tested.lines() if each.outcome == GIVEN)
    costs = cost(points, (card.card.program, offer.country), assumed, beside.now.date(), _DECIMALS)
    return _Outcome(tested, most, invited is None and offer.audience is Audience.INVITATION, costs)


async def _invited(offer: Offer, desk: OfferDesk, pool: Pool) -> InvitedAmong | None:
    """None where everybody counts as invited: a code is known to all, and nobody may be invited yet."""
    if offer.audience is not Audience.INVITATION or not offer.number or not await desk.invited(offer):
        return None
    return partial(InvitationStore(pool).among, offer.number)


async def _not_asked(_: str, events: Sequence[Event]) -> Sequence[Value | NotNow | None]:
    """For a look at many purchases no service is asked: the values are missing."""
    return [None] * len(events)


def _facts(pool: Pool, beside: OfferPublications) -> FactRegistry[PastSubject]:
    tiers, accounts = MembershipStore(pool, SystemClock()), LedgerReader(pool)
    members = MemberFacts(pool, tiers.tiers_of, accounts.standings_of)
    return FactRegistry(counter_facts(pool, beside), ServiceFacts(_not_asked), members)


def _document(offer: Offer, window: Window, outcome: _Outcome) -> dict[str, Any]:
    lines, most = outcome.tested.lines(), outcome.most
    given = [each for each in lines if each.outcome == GIVEN]
    return {
        "offer": offer.label if offer.version else offer.name,
        "from": window.begin,
        "to": window.end,
        "held_from": offer.starts_at,
        "held_to": offer.ends_at,
        "purchases": outcome.tested.read,
        "given": sum(each.purchases for each in given),
        "members": most.members,
        "money": money_of(sum(each.money for each in given), offer.currency),
        "currency": offer.currency,
        "points": sum(each.points for each in given),
        "liability": outcome.costs.amount,
        "liability_currency": outcome.costs.currency,
        "most_of_a_member": {
            "uses": most.uses,
            "money": money_of(most.cost, offer.currency),
            "points": most.points,
        },
        "does_not_fit": dict(sorted(outcome.tested.refused.items())),
        "not_told": not_told(offer),
        "everybody_invited": outcome.everybody,
        "limits": limits_document(offer.limits, LIMIT_WORDS),
        "days": [_line(each, offer.currency) for each in lines],
    }


def _line(line: BacktestLine, currency: str) -> dict[str, Any]:
    return {**line._asdict(), "money": money_of(line.money, currency)}


def _shown(offer: Offer, outcome: _Outcome) -> Iterator[str | Shown]:
    lines, most = outcome.tested.lines(), outcome.most
    rows = [
        [str(each.day), each.outcome, each.purchases, money_of(each.money, offer.currency), each.points]
        for each in lines
    ]
    columns = ["day", "outcome", "purchases", offer.currency, "points"]
    yield Table(f"{offer.name}, as it would have been", columns, rows)
    given = [each for each in lines if each.outcome == GIVEN]
    money, points = sum(each.money for each in given), sum(each.points for each in given)
    yield (
        f"{counted(outcome.tested.read, 'purchase')} read, {sum(each.purchases for each in given):,} of"
        f" {counted(most.members, 'member')} got {_money(money, offer)} and {points:,} points;"
        f" one member {_money(most.cost, offer)} and {most.points:,} points in {counted(most.uses, 'use')}"
    )
    for reason, purchases_ in sorted(outcome.tested.refused.items()):
        yield f"did not fit by {reason}: {purchases_:,}"
    if outcome.costs.amount is not None and points:
        yield f"liability of the points: {outcome.costs.amount} {outcome.costs.currency}"
    if missing := not_told(offer):
        yield f"past purchases name no {', '.join(missing)}: of these it fits none"
    if outcome.everybody:
        yield "nobody is invited yet: all members counted as invited"


def _money(millionths: int, offer: Offer) -> str:
    return f"{offer.currency} {money_of(millionths, offer.currency):,}"
