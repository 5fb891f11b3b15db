"""`abacus rates quote`: what a transaction earns, on any day."""

import json
from datetime import datetime
from typing import Annotated, Final

import typer

from abacus.cli.rates.family import card_desk
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.shell import moment
from abacus.core.errors import Refused
from abacus.intake.earning.decide.quote import BadSale, Sale, quoted
from abacus.ledger.types.award_envelope import Award
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.words import in_words

_OPTIONS: Final = {"payment_type": "payment", "occurred_at": "at"}


async def quote(
    country: Annotated[str, typer.Option(metavar="SG", help="Where.", show_default=False)],
    vertical: Annotated[str, typer.Option(metavar="NAME", help="What for, as on the card.", show_default=False)],
    amount: Annotated[str, typer.Option(metavar="15.00", help="How much was paid.", show_default=False)],
    payment: Annotated[str, typer.Option(metavar="NAME", help="How, as on the card.", show_default=False)],
    tier: Annotated[str, typer.Option(metavar="NAME", help="The member's tier.")] = BASE_TIER,
    currency: Annotated[str | None, typer.Option(metavar="SGD", help="Default: the card's.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When, with an offset. Default: now.")] = None,
) -> Answer:
    """Say what a transaction earns: now, in the past, or by the card that is scheduled for a day to come."""
    async with at_desk(card_desk) as (desk, _):
        now, book = desk.now(), await desk.book()
    when = now if at is None else moment("--at", at)
    return _quote(Sale(country, vertical, payment, amount, currency, tier, when), book, now)


def _quote(sale: Sale, book: CardBook, now: datetime) -> Answer:
    try:
        award, published = quoted(book, sale)
    except BadSale as bad:
        raise Refused(f"--{_OPTIONS.get(bad.field, bad.field)}: {bad.fault}") from None
    scheduled = published.card.effective_from > now
    document = {
        "points": award.points,
        "program": award.program,
        "card": published.name,
        "quoted_for": sale.at.isoformat(),
        "scheduled": scheduled,
        "expires_on": award.expires_on,
        "explanation": json.loads(award.explanation),
    }
    return Answer(document, *_told(sale, award, published, scheduled=scheduled))


def _told(sale: Sale, award: Award, published: PublishedCard, *, scheduled: bool) -> list[str]:
    start = published.card.effective_from.isoformat()
    by = f"{published.name}, scheduled from {start}" if scheduled else f"{published.name}, in force from {start}"
    return [
        f"{award.points} {award.program} on {sale.at.astimezone(published.card.zone).isoformat()}, by {by}",
        *in_words(read(award.explanation), None),
        f"good until {award.expires_on}",
    ]
