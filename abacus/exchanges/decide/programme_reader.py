"""Programmes as people write them: read with every fault and its path. Pure."""

import re
from collections.abc import Mapping
from datetime import time, timedelta
from decimal import Decimal
from typing import Final

from abacus.core import fields
from abacus.core.errors import Refused
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, mapping, quoted, string
from abacus.core.ids import PROGRAM_PATTERN
from abacus.core.lengths import length_text, read_clock, read_length
from abacus.core.points import MAX_POINTS
from abacus.documents.decide.heading import judge_times, name_reader, read_term
from abacus.documents.decide.texts import faults_of_text
from abacus.exchanges.decide.programme import (
    SIDES,
    ByFile,
    ByHttp,
    Caps,
    Carrier,
    Credit,
    Direction,
    Money,
    Offered,
    Prefunded,
    Programme,
    SignIn,
)
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.decide.terms import Ratio, Terms
from abacus.platform.delivery.decide.addresses import checked_url
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.figures import multiplier
from abacus.signals.rules.decide.document import parse_rule, restore_document, rule_document
from abacus.signals.rules.decide.names import check_named

MAX_RATIO: Final = 1_000_000
MAX_UNIT: Final = 40
MOST_REDIRECTS: Final = 10
LONGEST_QUOTE: Final = timedelta(days=1)
QUOTE_FOR: Final = timedelta(minutes=10)
LATE_AFTER: Final = timedelta(hours=24)
_NO_LENGTH: Final = timedelta(0)
_MIDNIGHT: Final = time(0)
_NO_CAPS: Final = Caps()

_name: Final = name_reader("skymiles")
_program: Final = fields.matching(re.compile(PROGRAM_PATTERN), "is not a program, such as GRP")
_currency: Final = fields.matching(re.compile("[A-Z]{3}"), "is not a currency; write three capitals (SGD)")
_tax_code: Final = fields.matching(
    re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,39}"), "is not a code of tax; write at most 40 letters, digits and dashes"
)
_bucket: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()-]+)*/?")
_points: Final = fields.whole(1, MAX_POINTS)
_client_id: Final = fields.matching(re.compile("[!-~]{1,200}"), "is not a client id; write up to 200 ASCII characters")
_scope: Final = fields.matching(
    re.compile(r"(?=.{1,500}\Z)[!#-\[\]-~]+( [!#-\[\]-~]+)*"), "is not a scope; write words with a space between"
)
_own_scheme: Final = re.compile(r"(?=.{1,2000}\Z)[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:/[!$-~]*")  # of an app: RFC 8252


class ProgrammeFaults(DocumentFaults):
    """Every fault of a programme."""


def parse_programme(document: Mapping[str, object], around: ExchangePublications) -> Programme:
    """The draft of a document, be it from TOML or from JSON, judged by what is published. Raises `ProgrammeFaults` with
    every fault.
    """
    return _read(document, around)


def restore_programme(document: Mapping[str, object], version: int) -> Programme:
    """The programme of a document that was judged before. Raises `ProgrammeFaults` for a document that only a newer
    Abacus can read.
    """
    return _read(document, None).numbered(version)


def _read(document: Mapping[str, object], around: ExchangePublications | None) -> Programme:
    faults = faults_of_text(document)
    top = Fields(document, "", faults)
    term = read_term(top, _name)
    card = _card(top, term.country, around)
    partner = top.read("partner", string, "")
    program = top.read("program", _program, "")
    unit = top.read("unit", _unit, "")
    directions, caps = _directions(top, faults)
    carrier = _carrier(top.table("carrier"), around)
    sign_in = _sign_in(top, around)
    money = _money(top.table("money"))
    quote_for = top.read_if_there("quote_for", read_length, QUOTE_FOR)
    late_after = top.read_if_there("late_after", read_length, LATE_AFTER)
    cancel_after = top.read_if_there("cancel_after", read_length, None)
    cooling_off = top.read_if_there("cooling_off", read_length, _NO_LENGTH)
    review_above = top.read_if_there("review_above", _points, None)
    reverses_for = top.read_if_there("reverses_for", read_length, None)
    when = _rule(top, around, faults)
    top.refuse_unknown()
    if quote_for > LONGEST_QUOTE:
        top.note("quote_for", f"{length_text(quote_for)}; a quote holds for {length_text(LONGEST_QUOTE)} at most")
    if cancel_after is not None and cancel_after < late_after:
        top.note("cancel_after", f"before late_after, which is {length_text(late_after)}")
    if around is not None:
        judge_times(top, term, around.now)
        _judge_partner(top, partner, around)
        if card is not None and program and program != card.card.program:
            top.note("program", f"{card.card.scope} gives points of {card.card.program}, not of {program}")
    if faults:
        raise ProgrammeFaults(faults)
    return Programme(
        **term._asdict(),
        partner=partner,
        program=program,
        unit=unit,
        directions=directions,
        caps=caps,
        carrier=carrier,
        money=money,
        sign_in=sign_in,
        quote_for=quote_for,
        late_after=late_after,
        cancel_after=cancel_after,
        cooling_off=cooling_off,
        review_above=review_above,
        reverses_for=reverses_for,
        when=when,
    )


def _card(top: Fields, country: str, around: ExchangePublications | None) -> PublishedCard | None:
    if around is None or not country:
        return None
    if country not in around.cards:
        top.note("country", f"no rate card of {country} is in force, so there are no points to exchange")
    return around.cards.get(country)


def _judge_partner(top: Fields, partner: str, around: ExchangePublications) -> None:
    if partner:
        try:
            check_named(partner, around.partners, "partner that is enabled", "abacus partners list")
        except Bad as bad:
            top.note("partner", str(bad))


def _unit(value: object) -> str:
    text = string(value)
    if not text.strip() or len(text) > MAX_UNIT or not text.isprintable():
        raise Bad(f"{quoted(text)}; write 1 to {MAX_UNIT} characters, such as miles")
    return text


def _directions(top: Fields, faults: list[Fault]) -> tuple[Mapping[Direction, Offered], Mapping[Direction, Caps]]:
    offered: dict[Direction, Offered] = {}
    caps: dict[Direction, Caps] = {}
    for direction in Direction:
        table = top.table(direction.value, optional=True)
        if direction.value in top.values:
            offered[direction] = _offered(table, direction, faults)
            limits = _caps(table.table("caps", optional=True), _fewest_of_ours(offered[direction].terms, direction))
            if limits != _NO_CAPS:
                caps[direction] = limits
            table.refuse_unknown()
    if not offered:
        top.note("out", "nothing is exchanged; write the table out, in, or both")
    return offered, caps


def _offered(table: Fields, direction: Direction, faults: list[Fault]) -> Offered:
    before = len(faults)
    ratio = Ratio(
        table.read("give", fields.whole(1, MAX_RATIO), 1),
        table.read("get", fields.whole(1, MAX_RATIO), 1),
    )
    terms = Terms(
        ratio,
        minimum=table.read("minimum", _points, 1),
        multiple=table.read_if_there("multiple", _points, 1),
        maximum=table.read("maximum", _points, MAX_POINTS),
    )
    price = table.read("price", multiplier, Decimal(0))
    fee = table.read_if_there("fee", fields.whole(0, MAX_POINTS), 0) if direction is Direction.OUT else 0
    if len(faults) == before:
        _judge_terms(table, terms)
    return Offered(terms, price, fee)


def _judge_terms(table: Fields, terms: Terms) -> None:
    fewest = terms.fewest
    if terms.minimum > terms.maximum:
        table.note("maximum", f"{terms.maximum} is below the minimum, {terms.minimum}")
    elif fewest > terms.maximum:
        table.note("multiple", f"no multiple of {terms.multiple} is between {terms.minimum} and {terms.maximum}")
    elif terms.credit_for(fewest) < 1:
        table.note("minimum", f"{fewest} points buy nothing: {terms.ratio.give} buy {terms.ratio.get}")
    elif terms.credit_for(terms.maximum) > MAX_POINTS:
        table.note("maximum", f"buys {terms.credit_for(terms.maximum)} points; {MAX_POINTS} are the most")


def _fewest_of_ours(terms: Terms, direction: Direction) -> int:
    return terms.fewest if direction is Direction.OUT else terms.credit_for(terms.fewest)


def _caps(table: Fields, fewest: int) -> Caps:
    caps = Caps(*(table.read_if_there(name, _points, None) for name in Caps._fields))
    for name, most in caps._asdict().items():
        if most is not None and most < fewest:
            table.note(name, f"{most}, but the fewest that are exchanged are {fewest} of the house's points")
    table.refuse_unknown()
    return caps


def _carrier(table: Fields, around: ExchangePublications | None) -> Carrier:
    if {"url", "place"} <= table.values.keys():
        table.note("place", "beside url; one of them carries")
    carrier: Carrier
    if "place" in table.values:
        carrier = ByFile(table.read("place", _place, ""), table.read("cut_off", read_clock, _MIDNIGHT))
        table.pass_over("url")
    else:
        carrier = ByHttp(
            table.read("url", lambda value: _url(value, around), ""),
            table.read_if_there("remembers_refusals", fields.flag, default=True),
        )
    table.refuse_unknown()
    return carrier


def _url(value: object, around: ExchangePublications | None) -> str:
    text = _address(value, around)
    if "?" in text:
        raise Bad(f"{quoted(text)}: paths of the contract come behind it, so leave out what follows a ?")
    return text


def _address(value: object, around: ExchangePublications | None) -> str:
    text = string(value)
    try:
        return checked_url(text, to_private=around is None or around.to_private)
    except Refused as fault:
        raise Bad(str(fault)) from None


def _sign_in(top: Fields, around: ExchangePublications | None) -> SignIn | None:
    table = top.table("oauth", optional=True)
    if "oauth" not in top.values:
        return None

    def address(value: object) -> str:
        return _address(value, around)

    sign_in = SignIn(
        authorize_url=table.read("authorize_url", address, ""),
        token_url=table.read("token_url", address, ""),
        account_url=table.read("account_url", address, ""),
        client_id=table.read("client_id", _client_id, ""),
        redirect_uris=table.read("redirect_uris", lambda value: _redirects(value, around), ()),
        scope=table.read_if_there("scope", _scope, None),
        issuer=table.read_if_there("issuer", address, None),
    )
    table.refuse_unknown()
    return sign_in


def _redirects(value: object, around: ExchangePublications | None) -> tuple[str, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_REDIRECTS:
        raise Bad(f"write 1 to {MOST_REDIRECTS} addresses in an array")
    found = tuple(_redirect(each, around) for each in value)
    if len(set(found)) < len(found):
        raise Bad("an address stands there twice")
    return found


def _redirect(value: object, around: ExchangePublications | None) -> str:
    """An address of https, or one of an app's own scheme."""
    text = string(value)
    return text if _own_scheme.fullmatch(text) else _address(text, around)


def _place(value: object) -> str:
    text = string(value)
    if text.startswith("s3:"):
        if not _bucket.fullmatch(text):
            raise Bad(f"{quoted(text)} is not a place in S3, such as s3://bucket/prefix")
    elif not text.startswith("/") or not text.isprintable() or ".." in text.split("/"):
        raise Bad(f"{quoted(text)} is not a place; write the whole path of a folder, or s3://bucket/prefix")
    return text


def _money(table: Fields) -> Money:
    currency = table.read("currency", _currency, "")
    tax_code = table.read("tax_code", _tax_code, "")
    terms: Prefunded | Credit
    if {"alert_below", "credit_limit"} <= table.values.keys():
        table.note("credit_limit", "beside alert_below; the house pays in advance or afterwards")
    if "credit_limit" in table.values:
        terms = Credit(table.read("credit_limit", multiplier, Decimal(0)))
        table.pass_over("alert_below")
    else:
        terms = Prefunded(table.read("alert_below", multiplier, Decimal(0)))
    table.refuse_unknown()
    return Money(currency, tax_code, terms)


def _rule(top: Fields, around: ExchangePublications | None, faults: list[Fault]) -> Mapping[str, object] | None:
    document = top.read_if_there("when", mapping, None)
    if document is None:
        return None
    if around is None:
        return restore_document(document)
    try:
        return rule_document(parse_rule(document, SIDES.resolver(around)))
    except DocumentFaults as error:
        faults += error.faults
        return None
