"""An offer as a document, and its parts in words. Pure."""

import json
from collections.abc import Iterator, Mapping

from abacus.core.document_text import Inline, write_toml
from abacus.core.points import plain
from abacus.documents.decide.heading import heading_document
from abacus.engage.limits.decide.limit_reader import limits_document
from abacus.engage.offers.decide.benefit_reader import benefit_document
from abacus.engage.offers.decide.offer import ALONE, LIMIT_WORDS, OPEN, POOL, Gate, Offer, Stack, Stacking
from abacus.engage.offers.decide.scope_reader import scope_document

_BY_PART = ("scope", "limits")


def to_document(offer: Offer) -> dict[str, object]:
    """The offer as JSON holds it; its version and number are no part of that. `parse_offer` makes the same of it."""
    document = heading_document(offer)
    if offer.currency:
        document["currency"] = offer.currency
    document["audience"] = offer.audience.value
    if offer.code is not None:
        document["code"] = offer.code
    elif offer.takes_single_code:
        document["codes"] = POOL
    document |= {"benefit": benefit_document(offer.benefit), "scope": scope_document(offer.scope)}
    if offer.price != OPEN:
        document["price"] = _gate(offer.price)
    if offer.quantity != OPEN:
        document["quantity"] = {name: int(str(value)) for name, value in _gate(offer.quantity).items()}
    if offer.basket_minimum:
        document["basket_minimum"] = plain(offer.basket_minimum)
    if offer.when is not None:
        document["when"] = dict(offer.when)
    document["limits"] = limits_document(offer.limits, LIMIT_WORDS)
    if offer.stack != ALONE:
        document["stack"] = _stack(offer.stack)
    if offer.priority:
        document["priority"] = offer.priority
    document["paid_by"] = {offer.payer.kind: offer.payer.name}
    return document


def to_toml(offer: Offer) -> str:
    """The offer as a file to edit."""
    return toml_of(to_document(offer))


def toml_of(document: Mapping[str, object]) -> str:
    """A document as a file to edit, be it an offer already or not."""
    payer = document.get("paid_by")
    return write_toml({**document, "paid_by": Inline(payer)} if isinstance(payer, Mapping) else document)


def described(offer: Offer) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    for name, value in to_document(offer).items():
        if name in _BY_PART and isinstance(value, Mapping):
            yield from ((f"{name}.{each}", _words(inner)) for each, inner in value.items())
        else:
            yield name, _words(value)


def _gate(gate: Gate) -> dict[str, str]:
    document = {"from": plain(gate.least)} if gate.least else {}
    return document if gate.below is None else {**document, "below": plain(gate.below)}


def _stack(stack: Stack) -> str:
    return f"{Stacking.GROUP}:{stack.group}" if stack.stacking is Stacking.GROUP else stack.stacking.value


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
