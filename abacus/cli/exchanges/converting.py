"""`abacus exchanges quote` and `convert`: for a member, by support."""

from typing import Annotated
from uuid import UUID

import typer

from abacus.api.exchange_answers import exchange_facts, quote_facts
from abacus.cli.exchanges.counter import exchange_counter
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.known import checked_reason
from abacus.core.errors import Refused
from abacus.exchanges.converter import Conversion
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.decide.quote import Wish
from abacus.exchanges.decide.words import in_words
from abacus.people.types.deed import Deed


async def quote_exchange(
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="The member's id.", show_default=False)],
    programme: Annotated[str, typer.Argument(metavar="PROGRAMME", show_default=False)],
    points: Annotated[int | None, typer.Option(min=1, help="How many points are given.")] = None,
    target: Annotated[int | None, typer.Option(min=1, help="How many arrive at least.")] = None,
    direction: Annotated[Direction, typer.Option(help="Out of the house, or into it.")] = Direction.OUT,
) -> Answer:
    """Quote an exchange: what is taken, what arrives, until when that holds, and how long it usually takes."""
    if (points is None) is (target is None):
        raise Refused("say --points or --target")
    async with exchange_counter() as counter:
        of = counter.desk.programmes().by_name.get(programme)
        counter.at.check(Deed.MOVE_POINTS, of.programme.country if of is not None else None)
        wish = Wish(member, programme, direction, points, target)
        quoted = await counter.desk.quote(wish, await counter.standings(member), counter.at.actor.agent)
    fee = f" and a fee of {quoted.fee:,}" if quoted.fee else ""
    told = f"{quoted.amounts.debit:,} points{fee} for {quoted.amounts.credit:,} {quoted.programme.unit}"
    if direction is Direction.IN:
        told = f"{quoted.amounts.debit:,} {quoted.programme.unit} for {quoted.amounts.credit:,} points, by the partner"
    until = [] if quoted.exchange is None else [f"`abacus exchanges convert {quoted.exchange.exchange_id}` does it"]
    return Answer(quote_facts(quoted), told, *until)


async def convert_quote(
    quote: Annotated[UUID, typer.Argument(metavar="QUOTE", help="Its id.", show_default=False)],
    reason: Annotated[str, typer.Option(help="For the log.", show_default=False)],
) -> Answer:
    """Exchange by a quote: the points are held, and the exchanger goes on with it. The same quote again tells where it
    stands.
    """
    why = checked_reason(reason)
    async with exchange_counter() as counter:
        found = await counter.one(quote, Deed.MOVE_POINTS)
        about = {"did": "convert-exchange", "of": found.programme, "exchange": str(quote), "reason": why}
        await counter.at.begins(Deed.MOVE_POINTS, f"member:{found.member_id}", country=found.country, **about)
        agent, key = counter.at.actor.agent, f"{counter.at.actor.source}\nquote:{quote}"
        after = await counter.desk.convert(Conversion(quote, key, agent, found.member_id))
        return Answer(exchange_facts(after, counter.at.clock.now()), f"{quote}: {in_words(after)}")
