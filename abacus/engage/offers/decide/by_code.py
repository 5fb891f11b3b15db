"""The offers to which typed codes admit. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.ask import Ask
from abacus.engage.offers.decide.offer_index import OfferIndex


class Named(NamedTuple):
    """An offer that was named, or whose code was typed. It is None where no such offer is in force in the country, and
    `is_taken` where its single code is.
    """

    text: str
    armed: Armed | None
    is_code: bool = False
    is_taken: bool = False


def by_codes(index: OfferIndex, ask: Ask, now: datetime) -> Iterator[Named]:
    """For each typed code its offer. Where several have the code, one whose code is free goes first."""
    for code in ask.codes:
        public = index.by_code(ask.card.card.scope, code)
        yield Named(code, public, is_code=True) if public is not None else _single(index, ask, code, now)


def _single(index: OfferIndex, ask: Ask, code: str, now: datetime) -> Named:
    there = [
        Named(code, armed, is_code=True, is_taken=one.is_taken(now))
        for one in ask.singles.get(code, ())
        if (armed := index.named(one.offer)) is not None
        and armed.offer.takes_single_code
        and armed.offer.country == ask.card.card.scope
    ]
    return min(there, key=lambda each: each.is_taken, default=Named(code, None, is_code=True))
