"""What a transaction earns: now, in the past, or by a card that is scheduled."""

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar, Final

from abacus.console.decide.typed import local_moment
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.core.errors import Refused, SetAside
from abacus.intake.earning.decide.quote import BadSale, Quoted, Sale, quoted
from abacus.people.types.deed import Deed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import BASE_TIER, RateCard
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.words import in_words
from abacus.pricing.store.cards import CardReader

_FIELDS: Final = ("country", "vertical", "payment_type", "amount", "tier", "at")


@dataclass(frozen=True)
class Quote:
    """The points with their explanation, and the card that they follow from."""

    points: int
    program: str
    card: str
    scheduled: bool
    since: datetime
    expires_on: date
    says: Sequence[str]
    explanation: Any


@dataclass(frozen=True, kw_only=True)
class QuotePage(Page):
    """A form that is an address, and what came of it."""

    template: ClassVar[str] = "rate_quote.html"
    countries: Sequence[tuple[str, str]]
    country: str | None
    zone: str
    verticals: Sequence[tuple[str, str]]
    payment_types: Sequence[tuple[str, str]]
    tiers: Sequence[tuple[str, str]]
    quote: Quote | None


async def quote(call: Call) -> QuotePage:
    book, open_ = call.rooms[CardReader].book(), call.countries(Deed.SEE)
    countries = [each for each in book.countries() if open_ is None or each in open_]
    typed = call.narrowed(*_FIELDS)
    country = typed.get("country") if typed.get("country") in countries else next(iter(countries), None)
    card = _card(book, country, call.now)
    found, fault = None, None
    if card is not None and country is not None and typed.get("amount"):
        try:
            sale = _sale(typed, country, card, call.now)
            found = _quote(quoted(book, sale), call.now)
        except BadSale as bad:
            typed = typed.but(**{"at" if bad.field == "occurred_at" else bad.field: bad.fault})
        except Refused as refused:
            fault = str(refused)
    return QuotePage(
        title="What does it earn?",
        command=_command(typed) if found is not None else "abacus rates quote",
        countries=_options(countries),
        country=country,
        zone=card.timezone if card else "UTC",
        verticals=_options(card.verticals if card else ()),
        payment_types=_options(card.payment_types if card else ()),
        tiers=_options(sorted(card.tiers, key=lambda name: card.tiers[name]) if card else ()),
        quote=found,
        form=typed,
        fault=fault,
    )


def _options(names: Iterable[str]) -> Sequence[tuple[str, str]]:
    return [(name, name) for name in names]


def _card(book: CardBook, country: str | None, now: datetime) -> RateCard | None:
    """The card whose names the form offers: that in force, or else the first one."""
    if country is None:
        return None
    try:
        return book.expected(country, now).card
    except SetAside:
        return book.versions(country)[0].card


def _sale(typed: Form, country: str, card: RateCard, now: datetime) -> Sale:
    """Raises `BadSale`. A time without an offset is that of the country."""
    at = local_moment(typed.get("at"), card.timezone) if typed.get("at") else now
    if at is None:
        raise BadSale("at", "Write a day and a time.")
    return Sale(
        country,
        typed.get("vertical") or next(iter(card.verticals)),
        typed.get("payment_type") or next(iter(card.payment_types)),
        typed.get("amount"),
        None,
        typed.get("tier") or BASE_TIER,
        at,
    )


def _quote(found: Quoted, now: datetime) -> Quote:
    award, published = found
    return Quote(
        points=award.points,
        program=award.program,
        card=published.name,
        scheduled=published.card.effective_from > now,
        since=published.card.effective_from,
        expires_on=award.expires_on,
        says=list(in_words(read(award.explanation), None)),
        explanation=json.loads(award.explanation),
    )


def _command(typed: Form) -> str:
    names = {"payment_type": "payment"}
    options = (f"--{names.get(name, name)} {shlex.quote(value)}" for name, value in typed.typed.items())
    return f"abacus rates quote {' '.join(options)}"
