"""`abacus exchanges quote`, `convert`, `cancel` and `reverse`: for a member, by support."""

from typing import Annotated
from uuid import UUID

import typer

from abacus.api.exchange_answers import exchange_facts, quote_facts
from abacus.cli.exchanges.counter import ExchangeCounter, exchange_counter
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.known import checked_reason
from abacus.core.errors import Refused
from abacus.exchanges.converter import Conversion
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.decide.quote import Wish
from abacus.exchanges.decide.words import in_words
from abacus.people.types.deed import Deed

ExchangeId = Annotated[UUID, typer.Argument(metavar="EXCHANGE", help="Its id.", show_default=False)]
Why = Annotated[str, typer.Option("--reason", help="For the log.", show_default=False)]


async def quote_exchange(
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="The member's id.", show_default=False)],
    programme: Annotated[str, typer.Argument(metavar="PROGRAMME", show_default=False)],
    points: Annotated[int | None, typer.Option(min=1, help="So many points are given.")] = None,
    target: Annotated[int | None, typer.Option(min=1, help="At least so many arrive.")] = None,
    direction: Annotated[Direction, typer.Option(help="Out of the house, or into it.")] = Direction.OUT,
) -> Answer:
    """Quote an exchange: what is taken, what arrives, until when that holds, and how long it usually takes."""
    if (points is None) is (target is None):
        raise Refused("say --points or --target")
    async with exchange_counter() as counter:
        of = counter.desk.programmes().by_name.get(programme)
        counter.at.check(Deed.SEE, of.programme.country if of is not None else None)
        wish = Wish(member, programme, direction, points, target)
        quoted = await counter.desk.quote(wish, await counter.standings(member), counter.at.actor.agent)
    fee = f" and a fee of {quoted.fee:,}" if quoted.fee else ""
    told = f"{quoted.amounts.debit:,} points{fee} for {quoted.amounts.credit:,} {quoted.programme.unit}"
    if direction is Direction.IN:
        told = f"{quoted.amounts.debit:,} {quoted.programme.unit} for {quoted.amounts.credit:,} points, by the partner"
    until = [] if quoted.exchange is None else [f"`abacus exchanges convert {quoted.exchange.exchange_id}` does it"]
    return Answer(quote_facts(quoted), told, *until)


async def convert_quote(
    quote: Annotated[UUID, typer.Argument(metavar="QUOTE", help="Its id.", show_default=False)], reason: Why
) -> Answer:
    """Exchange by a quote: the points are held, and the exchanger goes on with it. The same quote again tells where it
    stands.
    """
    why = checked_reason(reason)
    async with exchange_counter() as counter:
        found = await counter.one(quote, Deed.MOVE_POINTS)
        await _noted(counter, found, "convert", why)
        agent, key = counter.at.actor.agent, f"{counter.at.actor.source}\nquote:{quote}"
        after = await counter.desk.convert(Conversion(quote, key, agent, found.member_id))
        return _told(counter, after)


async def cancel_exchange(exchange: ExchangeId, reason: Why) -> Answer:
    """Cancel an exchange that was not sent yet: its points are free again."""
    why = checked_reason(reason)
    async with exchange_counter() as counter:
        found = await counter.one(exchange, Deed.MOVE_POINTS)
        await _noted(counter, found, "cancel", why)
        return _told(counter, await counter.desk.cancel(found, counter.at.actor.agent))


async def reverse_exchange(exchange: ExchangeId, reason: Why) -> Answer:
    """Ask the partner to take an exchange back, as long as it does. It debits first; then the points come back."""
    why = checked_reason(reason)
    async with exchange_counter() as counter:
        found = await counter.one(exchange, Deed.MOVE_POINTS)
        await _noted(counter, found, "reverse", why)
        return _told(counter, await counter.desk.reverse(found, counter.at.actor.agent))


async def _noted(counter: ExchangeCounter, found: Exchange, did: str, why: str) -> None:
    details = {"did": f"{did}-exchange", "exchange": found.exchange_id.hex, "reason": why}
    await counter.at.begins(Deed.MOVE_POINTS, f"member:{found.member_id}", country=found.country, **details)


def _told(counter: ExchangeCounter, found: Exchange) -> Answer:
    return Answer(exchange_facts(found, counter.at.clock.now()), f"{found.exchange_id}: {in_words(found)}")
