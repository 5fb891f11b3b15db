"""Rewards as people write them: read with every fault and its path. Pure."""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Final
from urllib.parse import urlsplit

from abacus.core import fields
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, mapping, quoted, string
from abacus.core.ids import PROGRAM_PATTERN
from abacus.core.lengths import read_length
from abacus.core.points import MAX_POINTS
from abacus.documents.decide.heading import judge_times, name_reader, read_heading
from abacus.documents.decide.texts import faults_of_text
from abacus.engage.limits.decide.limit_reader import read_limits
from abacus.engage.offers.decide.invited import check_gives
from abacus.engage.offers.decide.payer import read_payer
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import (
    LIMIT_WORDS,
    SIDES,
    AsPoints,
    ByInvitation,
    ByWebhook,
    Delivery,
    FromPool,
    Money,
    Price,
    Reward,
    Texts,
)
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.figures import multiplier
from abacus.signals.rules.decide.document import parse_rule, restore_document, rule_document
from abacus.signals.rules.decide.names import check_named

MAX_LANGUAGES: Final = 20
MAX_PRICES: Final = 50
MAX_TITLE: Final = 200
MAX_TEXT: Final = 5_000
MAX_URL: Final = 2_000
POOL_PATTERN: Final = "[a-z][a-z0-9_]{0,63}"
_MOST: Final = 10**12
_LATE_AFTER: Final = timedelta(hours=1)
_NO_TEXTS: Final[Mapping[str, Texts]] = {}
_NO_PRICES: Final[Mapping[str, int]] = {}

_name: Final = name_reader("coffee")
_pool: Final = fields.matching(
    re.compile(POOL_PATTERN), "is not a name; write at most 64 small letters, digits and underscores (coffee_codes)"
)
_language: Final = fields.matching(
    re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?"), "is not a language; write its letters, such as en, id or zh-Hant"
)
_program: Final = fields.matching(re.compile(PROGRAM_PATTERN), "is not the name of a program, such as MILES")
_segment: Final = fields.matching(re.compile("[a-z][a-z0-9_]{0,63}"), "is not the name of a segment")
_tier: Final = fields.matching(re.compile("[a-z][a-z0-9_]{0,31}"), "is not the name of a tier")


def is_pool_name(text: str) -> bool:
    return re.fullmatch(POOL_PATTERN, text) is not None


class RewardFaults(DocumentFaults):
    """Every fault of a reward."""


def parse_reward(document: Mapping[str, object], around: RewardPublications) -> Reward:
    """The draft of a document, be it from TOML or from JSON, judged by what is published. Raises `RewardFaults` with
    every fault.
    """
    return _read(document, around)


def restore_reward(document: Mapping[str, object], version: int) -> Reward:
    """The reward of a document that was judged before. Raises `RewardFaults` for a document that only a newer Abacus
    can read.
    """
    return _read(document, None).numbered(version)


def _read(document: Mapping[str, object], around: RewardPublications | None) -> Reward:
    faults = faults_of_text(document)
    top = Fields(document, "", faults)
    heading = read_heading(top, _name)
    card = _card(top, heading.country, around)
    picture = top.read_if_there("picture", _https, None)
    texts = _texts(top.table("texts"))
    price = _price(top.table("price"), card, around)
    delivery = _delivery(top.table("delivery"), heading.country, card, around)
    limits = read_limits(top.table("limits"), LIMIT_WORDS)
    when = _rule(top, around, faults)
    payer = read_payer(top, optional=True)
    top.refuse_unknown()
    if around is not None:
        judge_times(top, heading, around.now)
    if faults:
        raise RewardFaults(faults)
    return Reward(
        **heading._asdict(),
        picture=picture,
        texts=texts,
        price=price,
        delivery=delivery,
        limits=limits,
        when=when,
        payer=payer,
    )


def _card(top: Fields, country: str, around: RewardPublications | None) -> PublishedCard | None:
    if around is None or not country:
        return None
    if country not in around.cards:
        top.note("country", f"no rate card of {country} is in force, so there are no points to pay with")
    return around.cards.get(country)


def _https(value: object) -> str:
    text = string(value)
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme != "https" or not host or len(text) > MAX_URL or not text.isprintable() or " " in text:
        raise Bad(f"{quoted(text)} is not an address of a picture; write one that begins with https://")
    return text


def _texts(table: Fields) -> Mapping[str, Texts]:
    if table.is_absent:
        return _NO_TEXTS
    return {language: _text(inner) for language, inner in table.tables(_language, at_most=MAX_LANGUAGES).items()}


def _text(table: Fields) -> Texts:
    texts = Texts(
        title=table.read("title", _bounded(MAX_TITLE, least=1), ""),
        description=table.read_if_there("description", _bounded(MAX_TEXT), ""),
        terms=table.read_if_there("terms", _bounded(MAX_TEXT), ""),
    )
    table.refuse_unknown()
    return texts


def _bounded(most: int, least: int = 0) -> Callable[[object], str]:
    def read(value: object) -> str:
        text = string(value)
        if not least <= len(text.strip()) or len(text) > most:
            raise Bad(f"{len(text)} characters; write {f'{least} to {most}' if least else f'at most {most}'}")
        return text

    return read


def _price(table: Fields, card: PublishedCard | None, around: RewardPublications | None) -> Price:
    points = table.read("points", fields.whole(1, MAX_POINTS), 1)
    tiers = _prices(table, "tiers", _tier)
    segments = _prices(table, "segments", _segment)
    for tier in tiers:
        if card is not None and tier not in card.card.tiers:
            table.note("tiers", f"{card.card.scope} has no tier {quoted(tier)}; it has {', '.join(card.card.tiers)}")
    if around is not None:
        _check_names(table, "segments", segments, around.segments, "segment")
    money = _money(table, min((points, *tiers.values(), *segments.values())))
    table.refuse_unknown()
    return Price(points, tiers, segments, money)


def _prices(table: Fields, name: str, read_name: Callable[[object], str]) -> Mapping[str, int]:
    if name not in table.values:
        return table.read_if_there(name, lambda _: _NO_PRICES, _NO_PRICES)
    inner = table.table(name)
    names = inner.names(read_name, at_most=MAX_PRICES)
    return {each: inner.read(each, fields.whole(1, MAX_POINTS), 1) for each in names}


def _check_names(table: Fields, name: str, named: Collection[str], known: Collection[str], what: str) -> None:
    for each in named:
        try:
            check_named(each, known, what, f"abacus {what}s list")
        except Bad as bad:
            table.note(name, str(bad))


def _money(table: Fields, lowest: int) -> Money | None:
    inner = table.table("money", optional=True)
    if inner.is_absent and "money" not in table.values:
        return None
    least = inner.read("least_points", fields.whole(0, MAX_POINTS), 0)
    pays = inner.read("point_pays", _above_zero, Decimal(1))
    if least >= lowest:
        inner.note("least_points", f"{least}, but the lowest price is {lowest}: nothing would be left to pay in money")
    inner.refuse_unknown()
    return Money(least, pays)


def _above_zero(value: object) -> Decimal:
    amount = multiplier(value)
    if amount <= 0:
        raise Bad(f"{quoted(str(value))}; write what a point pays, more than 0")
    return amount


def _delivery(table: Fields, country: str, card: PublishedCard | None, around: RewardPublications | None) -> Delivery:
    ways = [each for each in ("pool", "webhook", "offer", "program") if each in table.values]
    if len(ways) != 1 and not table.is_absent:
        table.note("pool", "write one of pool, for codes, webhook, for a fulfiller, offer, and program, for its points")
    delivery: Delivery
    match ways[:1]:
        case ["webhook"]:
            delivery = _by_webhook(table, around)
        case ["offer"]:
            delivery = _by_invitation(table, country, around)
        case ["program"]:
            delivery = _as_points(table, card, around)
        case _:
            delivery = _from_pool(table, around)
    table.refuse_unknown()
    return delivery


def _from_pool(table: Fields, around: RewardPublications | None) -> FromPool:
    pool = table.read_if_there("pool", _pool, "")
    low = table.read_if_there("low", fields.whole(0, _MOST), 0)
    if around is not None and pool:
        if pool not in around.pools:
            table.note("pool", f"no pool {quoted(pool)} is loaded; `abacus rewards codes load {pool} FILE` does it")
        elif around.pools[pool] == 0:
            table.note("pool", f"the pool {pool} has no free code; `abacus rewards codes load {pool} FILE` loads more")
    return FromPool(pool, low)


def _by_webhook(table: Fields, around: RewardPublications | None) -> ByWebhook:
    webhook = table.read("webhook", string, "")
    partner = table.read_if_there("partner", string, None)
    late = table.read_if_there("late_after", read_length, _LATE_AFTER)
    if around is not None:
        _check_names(table, "webhook", [webhook] if webhook else [], around.webhooks, "downstream")
        _check_names(table, "partner", [partner] if partner is not None else [], around.partners, "partner")
    return ByWebhook(webhook, partner, late)


def _by_invitation(table: Fields, country: str, around: RewardPublications | None) -> ByInvitation:
    offer = table.read("offer", _name, "")
    if around is not None and offer:
        try:
            check_gives(offer, around.offers, country)
        except Bad as bad:
            table.note("offer", str(bad))
    return ByInvitation(offer)


def _as_points(table: Fields, card: PublishedCard | None, around: RewardPublications | None) -> AsPoints:
    program = table.read("program", _program, "")
    points = table.read("points", fields.whole(1, MAX_POINTS), 1)
    if around is not None and program:
        if program not in around.programs:
            there = ", ".join(sorted(around.programs))
            table.note("program", f"no rate card gives points of {program}; there are {there}")
        elif card is not None and program == card.card.program:
            table.note("program", f"the reward is paid with points of {program}; write another program")
    return AsPoints(program, points)


def _rule(top: Fields, around: RewardPublications | None, faults: list[Fault]) -> Mapping[str, object] | None:
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
