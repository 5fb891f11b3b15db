"""A programme as a document, and the changes from one version to the next in words. Pure."""

import json
from collections.abc import Iterator, Mapping

from abacus.core.document_text import write_toml
from abacus.core.lengths import length_text
from abacus.core.points import plain
from abacus.documents.decide.heading import term_document
from abacus.exchanges.decide.programme import (
    ByHttp,
    Caps,
    Carrier,
    Credit,
    Direction,
    Money,
    Offered,
    Programme,
    SignIn,
)

_IN_PARTS = (*Direction, "carrier", "oauth", "money")


def to_document(programme: Programme) -> dict[str, object]:
    """The programme as JSON holds it; its version is no part of that. `parse_programme` makes the same of it."""
    document = term_document(programme)
    document |= {"partner": programme.partner, "program": programme.program, "unit": programme.unit}
    document |= {"quote_for": length_text(programme.quote_for), "late_after": length_text(programme.late_after)}
    for name in ("cancel_after", "cooling_off", "reverses_for"):
        if length := getattr(programme, name):
            document[name] = length_text(length)
    if programme.review_above is not None:
        document["review_above"] = programme.review_above
    for direction, offered in programme.directions.items():
        document[direction.value] = _offered(offered, programme.caps.get(direction))
    document["carrier"] = _carrier(programme.carrier)
    if programme.sign_in is not None:
        document["oauth"] = _oauth(programme.sign_in)
    document["money"] = _money(programme.money)
    if programme.when is not None:
        document["when"] = dict(programme.when)
    return document


def to_toml(programme: Programme) -> str:
    """The programme as a file to edit."""
    return write_toml(to_document(programme))


def described(programme: Programme) -> Iterator[tuple[str, str]]:
    """Each part with its path, in words."""
    for name, value in to_document(programme).items():
        if name in _IN_PARTS and isinstance(value, Mapping):
            yield from ((f"{name}.{each}", _words(inner)) for each, inner in value.items())
        else:
            yield name, _words(value)


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _offered(offered: Offered, caps: Caps | None) -> dict[str, object]:
    (give, get), minimum, multiple, maximum = offered.terms
    document: dict[str, object] = {"give": give, "get": get, "minimum": minimum}
    document |= {"multiple": multiple, "maximum": maximum, "price": plain(offered.price)}
    if offered.fee:
        document["fee"] = offered.fee
    if caps is not None:
        document["caps"] = {name: most for name, most in caps._asdict().items() if most is not None}
    return document


def _carrier(carrier: Carrier) -> dict[str, object]:
    if isinstance(carrier, ByHttp):
        forgets = {} if carrier.remembers_refusals else {"remembers_refusals": False}
        return {"url": carrier.url, **forgets}
    return {"place": carrier.place, "cut_off": f"{carrier.cut_off:%H:%M}"}


def _oauth(sign_in: SignIn) -> dict[str, object]:
    there = {name: value for name, value in sign_in._asdict().items() if value is not None}
    return {**there, "redirect_uris": list(sign_in.redirect_uris)}


def _money(money: Money) -> dict[str, object]:
    terms = money.terms
    paid = {"credit_limit": terms.limit} if isinstance(terms, Credit) else {"alert_below": terms.alert_below}
    return {
        "currency": money.currency,
        "tax_code": money.tax_code,
        **{name: plain(sum_) for name, sum_ in paid.items()},
    }
