"""`abacus rates quote`: what a transaction earns, on any day."""

import json
from datetime import datetime
from typing import Annotated, Final, NamedTuple

import typer
from pydantic import ValidationError

from abacus.cli.shell import AsJson, moment, pool, print_json, run
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, SetAside
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import COMPLETED, Completed
from abacus.ledger.types.award import Award
from abacus.platform.validation import first_fault
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, PublishedCard
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.words import in_words
from abacus.pricing.store.cards import CardStore

_OPTIONS: Final = {"payment_type": "payment", "occurred_at": "at"}


class Sale(NamedTuple):
    """The facts of the transaction that count for its points."""

    country: str
    vertical: str
    payment_type: str
    amount: str
    currency: str | None
    tier: str
    at: datetime


def quote(
    country: Annotated[str, typer.Option(metavar="SG", help="Where.", show_default=False)],
    vertical: Annotated[str, typer.Option(metavar="NAME", help="What for, as on the card.", show_default=False)],
    amount: Annotated[str, typer.Option(metavar="15.00", help="How much was paid.", show_default=False)],
    payment: Annotated[str, typer.Option(metavar="NAME", help="How, as on the card.", show_default=False)],
    tier: Annotated[str, typer.Option(metavar="NAME", help="The member's tier.")] = BASE_TIER,
    currency: Annotated[str | None, typer.Option(metavar="SGD", help="Default: the card's.")] = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When, with an offset. Default: now.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a transaction earns: now, in the past, or by the card that is scheduled for a day to come."""

    async def main() -> None:
        now = SystemClock().now()
        when = now if at is None else moment("--at", at)
        await _quote(Sale(country, vertical, payment, amount, currency, tier, when), now, as_json=as_json)

    run(main())


async def _quote(sale: Sale, now: datetime, *, as_json: bool) -> None:
    async with pool() as connections:
        book = CardBook(await CardStore(connections).all())
    try:
        published = book.expected(sale.country, sale.at)
        award = Calculator(book).award(_transaction(sale, published), published, sale.tier)
    except SetAside as fault:
        raise Refused(fault.detail) from None
    assert award is not None  # noqa: S101  # only an event may come to nothing
    scheduled = published.card.effective_from > now
    if as_json:
        print_json(
            {
                "points": award.points,
                "program": award.program,
                "card": published.name,
                "quoted_for": sale.at.isoformat(),
                "scheduled": scheduled,
                "expires_on": award.expires_on.isoformat(),
                "explanation": json.loads(award.explanation),
            }
        )
        return
    typer.echo("\n".join(_told(sale, award, published, scheduled=scheduled)))


def _transaction(sale: Sale, published: PublishedCard) -> Completed:
    """Raises `Refused` with the option that is not as it must be."""
    facts = {
        "type": COMPLETED,
        "source": "quote",
        "transaction_id": "quote",
        "member_id": "quote",
        "country": sale.country,
        "vertical": sale.vertical,
        "payment_type": sale.payment_type,
        "amount": sale.amount,
        "currency": sale.currency or published.card.currency,
        "occurred_at": sale.at.isoformat(),
    }
    try:
        return Completed.model_validate_json(json.dumps(facts))
    except ValidationError as error:
        field, _, fault = first_fault(error).partition(": ")
        raise Refused(f"--{_OPTIONS.get(field, field)}: {fault}") from None


def _told(sale: Sale, award: Award, published: PublishedCard, *, scheduled: bool) -> list[str]:
    start = published.card.effective_from.isoformat()
    by = f"{published.name}, scheduled from {start}" if scheduled else f"{published.name}, in force from {start}"
    return [
        f"{award.points} {award.program} on {sale.at.astimezone(published.card.zone).isoformat()}, by {by}",
        *in_words(read(award.explanation), None),
        f"good until {award.expires_on}",
    ]
