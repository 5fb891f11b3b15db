"""Offers as people write them: read with every fault and its path. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TypeVar, TypeVarTuple

from abacus.core import fields
from abacus.core.fields import EARLIEST, Bad, DocumentFaults, Fault, Fields, quoted, string
from abacus.documents.decide.equal_parts import EqualParts
from abacus.documents.decide.heading import Heading, judge_times, name_reader, read_heading
from abacus.documents.decide.texts import faults_of_text
from abacus.engage.limits.decide.limit_reader import read_limits
from abacus.engage.limits.types import Limits
from abacus.engage.offers.decide.benefit_reader import read_benefit
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.figure_reader import money, pieces, price, read_gate
from abacus.engage.offers.decide.offer import (
    ALONE,
    LIMIT_WORDS,
    POOL,
    Audience,
    Benefit,
    BenefitKind,
    Gate,
    Offer,
    Payer,
    Stack,
    Stacking,
)
from abacus.engage.offers.decide.payer import read_payer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.scope_reader import read_scope
from abacus.engage.offers.decide.vocabulary import read_when

CODE_PATTERN: Final = "[A-Z0-9](?:[A-Z0-9-]{1,30})[A-Z0-9]"
_GROUP: Final = "group:"
_HIGHEST_PRIORITY: Final = 1_000
_NOBODY: Final = Payer("cost_centre", "")
_PARTS: Final = EqualParts()

Part = TypeVar("Part")
Given = TypeVarTuple("Given")

_name: Final = name_reader("lunch_20")
_audience: Final = fields.one_of(Audience, "an audience")
_priority: Final = fields.whole(0, _HIGHEST_PRIORITY)
_currency: Final = fields.matching(re.compile("[A-Z]{3}"), "is not a currency; write three capitals (SGD)")
_code: Final = fields.matching(
    re.compile(CODE_PATTERN), "is not a code; write 3 to 32 capitals, digits and dashes (LUNCH20)"
)


class OfferFaults(DocumentFaults):
    """Every fault of an offer."""


def parse_offer(document: Mapping[str, object], around: OfferPublications) -> Offer:
    """The draft of a document, be it from TOML or from JSON, judged by what is published. Raises `OfferFaults`."""
    faults = faults_of_text(document)
    offer = _offer(document, around, faults)
    if faults:
        raise OfferFaults(faults)
    return offer


def restore_offer(
    document: Mapping[str, object], version: int, number: int = 0, approved_at: datetime = EARLIEST
) -> Offer:
    """The offer of a document that was judged before. Raises `OfferFaults` for a document that only a newer Abacus can
    read.
    """
    faults: list[Fault] = []
    offer = _offer(document, None, faults, version=version, number=number, approved_at=approved_at)
    if faults:
        raise OfferFaults(faults)
    return offer


def _offer(
    document: Mapping[str, object], around: OfferPublications | None, faults: list[Fault], **of_version: Any
) -> Offer:
    """Adds to the faults; where there are some, what it returns is no offer."""
    top = Fields(document, "", faults)
    heading = read_heading(top, _name)
    currency = _money_of(top, heading.country, around)
    decimals = decimals_of(currency)
    audience = top.read("audience", _audience, Audience.PUBLIC)
    read = _plainly if around is not None else _PARTS.read
    benefit = read(top, "benefit", read_benefit, decimals)
    offer = Offer(
        **heading._asdict(),
        currency=currency,
        audience=audience,
        code=_public_code(top, audience, heading, around),
        benefit=benefit,
        scope=read_scope(top, heading.country, around),
        price=read(top, "price", _price, decimals),
        quantity=read(top, "quantity", _quantity),
        basket_minimum=top.read_if_there("basket_minimum", money(decimals), Decimal(0)),
        when=read_when(top, around, faults),
        limits=read(top, "limits", _limits, decimals, benefit.kind),
        stack=top.read_if_there("stack", _stack, ALONE),
        priority=top.read_if_there("priority", _priority, 0),
        payer=read(top, "paid_by", read_payer) or _NOBODY,
        **of_version,
    )
    top.refuse_unknown()
    if around is not None:
        judge_times(top, heading, around.now)
    _judge_price(top, benefit, offer.price)
    return offer


def _money_of(top: Fields, country: str, around: OfferPublications | None) -> str:
    """The currency, which is that of the country's card."""
    named = top.read_if_there("currency", _currency, None)
    if around is None or not country:
        return named or ""
    card = around.cards.get(country)
    if card is None:
        top.note("country", f"no rate card of {country} is in force, so it is not known what is paid there")
        return named or ""
    if named is not None and named != card.card.currency:
        top.note("currency", f"{quoted(named)}, but {country} pays in {card.card.currency}")
    return card.card.currency


def _public_code(top: Fields, audience: Audience, heading: Heading, around: OfferPublications | None) -> str | None:
    """The public code of an offer by code; None where it has a pool of single codes."""
    code, pool = top.read_if_there("code", _code, None), top.read_if_there("codes", _pool, None)
    there = [name for name in ("code", "codes") if name in top.values]
    if audience is not Audience.CODE:
        for name in there:
            top.note(name, f'the audience is {audience}; leave the {name} out, or write audience = "{Audience.CODE}"')
    elif len(there) > 1:
        top.note("codes", "beside a public code; an offer has one code for everybody, or a pool")
    elif not there and around is not None:
        top.note("code", f'nothing; write the code of everybody, or codes = "{POOL}" for single codes')
    elif pool is not None and around is not None and around.pools.get(heading.name) != heading.country:
        top.note("codes", f"a pool without codes; load some: abacus offers codes load {heading.name or 'NAME'} FILE")
    return code


def _pool(value: object) -> str:
    if (text := string(value)) != POOL:
        raise Bad(f'{quoted(text)}; write codes = "{POOL}"')
    return POOL


def _plainly(top: Fields, _: str, reader: Callable[[Fields, *Given], Part], *given: *Given) -> Part:
    """A part of a draft."""
    return reader(top, *given)


def _price(top: Fields, decimals: int) -> Gate:
    return read_gate(top, "price", price(decimals))


def _quantity(top: Fields) -> Gate:
    return read_gate(top, "quantity", pieces)


def _limits(top: Fields, decimals: int, kind: BenefitKind) -> Limits:
    table = top.table("limits")
    limits = read_limits(table, LIMIT_WORDS, decimals=decimals)
    if kind.is_points and LIMIT_WORDS.money in table.values:
        table.note(LIMIT_WORDS.money, f"the benefit is points; limit its {LIMIT_WORDS.runs}")
    return limits


def _judge_price(top: Fields, benefit: Benefit, gate: Gate) -> None:
    """A price that is fixed has to be lower than some price that the offer is for."""
    if benefit.kind is BenefitKind.FIXED_PRICE and gate.below is not None and gate.below <= benefit.figure:
        top.note("price.below", f"no price below {gate.below} is above the fixed price of {benefit.figure}")


def _stack(value: object) -> Stack:
    text = string(value)
    if text.startswith(_GROUP):
        return Stack(Stacking.GROUP, _name(text.removeprefix(_GROUP)))
    if text in {Stacking.ALONE, Stacking.ALWAYS}:
        return Stack(Stacking(text))
    raise Bad(f"{quoted(text)}; write {Stacking.ALONE}, {Stacking.ALWAYS} or {_GROUP}NAME")
