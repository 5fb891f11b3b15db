"""A rate card: the worth of a point in one place, since a time. Pure: the value and its documents."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeVar
from zoneinfo import ZoneInfo

from abacus.core import fields
from abacus.core.document_text import read_toml, write_toml
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults, Fault, Fields
from abacus.core.points import Multiplier, Points, Rounding, plain
from abacus.pricing.decide import figures
from abacus.pricing.decide.point_value import CENT, PointValue

V = TypeVar("V")

BASE_TIER: Final = "member"  # the tier of a member who has no other
MOST_EXPIRY_MONTHS: Final = 60
MOST_VESTING_DAYS: Final = 365
TRANSACTION_TYPES: Final = ("transaction.completed", "transaction.refunded")  # earn by amount, so never a fixed award

# A card can be withdrawn until `WITHDRAWN_BEFORE` its start; from `FINAL_BEFORE` on, readers read its final state. The
# minute between is for the withdrawal's own transaction. Partners may date transactions five minutes ahead.
WITHDRAWN_BEFORE: Final = timedelta(minutes=10)
FINAL_BEFORE: Final = timedelta(minutes=9)

_SCOPE: Final = re.compile(r"[A-Z]{2}|partner:[a-z0-9-]+")
_CARD_NAME: Final = re.compile(rf"(?P<scope>{_SCOPE.pattern})(?:@(?P<version>[1-9][0-9]{{0,8}}))?")
_PROGRAM: Final = re.compile(r"[A-Z][A-Z0-9_]{0,15}")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_SHORTEST_MONTH: Final = 28
_ZERO: Final = Multiplier(Decimal(0))

_scope = fields.matching(_SCOPE, "is not a scope; write the two capitals of a country (SG) or partner:name")
_program = fields.matching(_PROGRAM, "is not a program; write 1 to 16 capitals, digits and underscores (GRP)")
_currency = fields.matching(_CURRENCY, "is not a currency; write three capitals (SGD)")


class CardFaults(DocumentFaults):
    """Every fault of a card."""


class Expiry(StrEnum):
    """When points lapse: all together when the member was not active for long, or each award so long after it."""

    ACTIVITY = "activity"
    LIFETIME = "lifetime"


class OnShortfall(StrEnum):
    """The rule for taking back points that are not there any more: the balance becomes negative, or it ends at 0."""

    NEGATIVE = "negative"
    CLIP = "clip"


_expiry = fields.one_of(Expiry, "a way to lapse")
_on_shortfall = fields.one_of(OnShortfall, "a policy")


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """The points, earned within a period, that make each tier."""

    period_months: int
    thresholds: Mapping[str, Points]

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", _frozen(self.thresholds))

    def __hash__(self) -> int:
        return hash((self.period_months, frozenset(self.thresholds.items())))


@dataclass(frozen=True, slots=True)
class RateCard:
    """The rates of one country or partner; `parse_card` keeps their values within bounds.

    Cards with the same rates are equal, however they were written. `effective_from` is kept at the fixed offset that
    the card's zone has then, because times in a zone with summer time do not always compare by the instant.
    """

    scope: str
    program: str
    currency: str
    timezone: str
    effective_from: datetime
    eppf: Multiplier
    rounding: Rounding
    expiry_months: int
    verticals: Mapping[str, Multiplier]
    payment_types: Mapping[str, Multiplier]
    tiers: Mapping[str, Multiplier]
    fixed_awards: Mapping[str, Points] = field(default_factory=dict)
    tier_policy: TierPolicy | None = None
    expiry: Expiry = Expiry.ACTIVITY
    on_shortfall: OnShortfall = OnShortfall.NEGATIVE
    point_value: PointValue | None = None
    vests_after_days: int | None = None  # points of a transaction cannot be spent before: its return window
    zone: ZoneInfo = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        zone = ZoneInfo(self.timezone)
        object.__setattr__(self, "zone", zone)
        object.__setattr__(self, "effective_from", _at_fixed_offset(self.effective_from, zone))
        for name in ("verticals", "payment_types", "tiers", "fixed_awards"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))

    def __hash__(self) -> int:  # the generated one would hash the mappings, which have no hash
        return hash((self.scope, self.effective_from))

    def __reduce__(self) -> tuple[object, ...]:  # read-only mappings cannot be sent to another process
        return parse_card, (to_document(self),)


class CardState(StrEnum):
    """Whether a published card can be relied on: it may be withdrawn until shortly before it begins."""

    OPEN = "open"
    FINAL = "final"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class PublishedCard:
    """A card that has its number and never changes again. Explanations quote its `name`: "SG@7".

    Its state is that of the moment when it was read, and never goes back.
    """

    card: RateCard
    version: int
    state: CardState = CardState.FINAL
    name: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", f"{self.card.scope}@{self.version}")


def names_card(text: str) -> bool:
    """Whether `split_name` takes it."""
    return _CARD_NAME.fullmatch(text) is not None


def split_name(name: str) -> tuple[str, int | None]:
    """The scope and the version, if one is given: of "SG@7" and of "SG". Raises `Refused` for anything else."""
    match = _CARD_NAME.fullmatch(name)
    if match is None:
        raise Refused(f"{name!r} does not name a rate card; write a scope such as SG, or a version such as SG@7")
    version = match["version"]
    return match["scope"], int(version) if version else None


def country_of(scope: str) -> str | None:
    """The country that a scope is; None for a partner's own cards."""
    return None if ":" in scope else scope


def parse_toml(text: str) -> RateCard:
    """The card that a person wrote. Raises `CardFaults`; for text that is not TOML, with the line and column."""
    try:
        document = read_toml(text)
    except DocumentFaults as error:
        raise CardFaults(error.faults) from None
    return parse_card(document)


def parse_card(document: Mapping[str, object]) -> RateCard:
    """The card of a document, be it from TOML or from JSON. Raises `CardFaults` with every fault that it has."""
    faults: list[Fault] = []
    top = Fields(document, "", faults)
    scope = top.read("scope", _scope, "")
    program = top.read("program", _program, "")
    currency = top.read("currency", _currency, "")
    zone = top.read("timezone", fields.time_zone, "UTC")
    effective_from = top.read("effective_from", fields.moment, fields.EARLIEST)
    eppf = top.read("eppf", figures.multiplier, _ZERO)
    rounding = top.read("rounding", figures.rounding, Rounding.FLOOR)
    expiry_months = top.read("expiry_months", fields.whole(1, MOST_EXPIRY_MONTHS), 1)
    expiry = top.read_if_there("expiry", _expiry, Expiry.ACTIVITY)
    on_shortfall = top.read_if_there("on_shortfall", _on_shortfall, OnShortfall.NEGATIVE)
    verticals = top.table("verticals").entries(figures.multiplier, _ZERO)
    payment_types = top.table("payment_types").entries(figures.multiplier, _ZERO)
    tiers = _tiers(top.table("tiers"))
    fixed_awards = _fixed_awards(top.table("fixed_awards", optional=True))
    tier_policy = _tier_policy(top.table("tier_policy", optional=True), tiers)
    point_value = _point_value(top.table("point_value", optional=True))
    vests_after_days = top.read_if_there("vests_after_days", fields.whole(1, MOST_VESTING_DAYS), None)
    if vests_after_days is not None and vests_after_days > _SHORTEST_MONTH * expiry_months:
        top.note("vests_after_days", f"after {vests_after_days} days, points may have lapsed before they vest")
    top.refuse_unknown()
    if faults:
        raise CardFaults(faults)
    return RateCard(
        scope=scope,
        program=program,
        currency=currency,
        timezone=zone,
        effective_from=effective_from,
        eppf=eppf,
        rounding=rounding,
        expiry_months=expiry_months,
        verticals=verticals,
        payment_types=payment_types,
        tiers=tiers,
        fixed_awards=fixed_awards,
        tier_policy=tier_policy,
        expiry=expiry,
        on_shortfall=on_shortfall,
        point_value=point_value,
        vests_after_days=vests_after_days,
    )


def to_document(card: RateCard) -> dict[str, object]:
    """The card as JSON holds it, decimals and the time as text. `parse_card` makes the same card of it again.

    Names stand in alphabetical order, tiers from the lowest up.
    """
    document: dict[str, object] = {
        "scope": card.scope,
        "program": card.program,
        "currency": card.currency,
        "timezone": card.timezone,
        "effective_from": card.effective_from.isoformat(),
        "eppf": plain(card.eppf),
        "rounding": card.rounding.value,
        "expiry_months": card.expiry_months,
        **_chosen(card),
        "verticals": {name: plain(times) for name, times in sorted(card.verticals.items())},
        "payment_types": {name: plain(times) for name, times in sorted(card.payment_types.items())},
        "tiers": {name: plain(times) for times, name in sorted((times, name) for name, times in card.tiers.items())},
        "fixed_awards": dict(sorted(card.fixed_awards.items())),
    }
    if card.tier_policy is not None:
        steps = sorted((points, name) for name, points in card.tier_policy.thresholds.items())
        document["tier_policy"] = {
            "period_months": card.tier_policy.period_months,
            "thresholds": {name: points for points, name in steps},
        }
    if card.point_value is not None:
        step = {} if card.point_value.step == CENT else {"step": plain(card.point_value.step)}
        document["point_value"] = {"money": plain(card.point_value.money), **step}
    return document


def _chosen(card: RateCard) -> dict[str, object]:
    """The optional fields, where they differ from their defaults."""
    chosen: dict[str, object] = {}
    if card.expiry is not Expiry.ACTIVITY:
        chosen["expiry"] = card.expiry.value
    if card.on_shortfall is not OnShortfall.NEGATIVE:
        chosen["on_shortfall"] = card.on_shortfall.value
    if card.vests_after_days is not None:
        chosen["vests_after_days"] = card.vests_after_days
    return chosen


def to_toml(card: RateCard) -> str:
    """The card as a person writes it. `parse_toml` makes the same card of it again."""
    return write_toml({**to_document(card), "effective_from": card.effective_from})


def _tiers(table: Fields) -> dict[str, Multiplier]:
    tiers = table.entries(figures.multiplier, _ZERO)
    if tiers and BASE_TIER not in tiers:
        table.note(BASE_TIER, "missing; it is the tier of everybody who has no other")
    return tiers


def _fixed_awards(table: Fields) -> dict[str, Points]:
    for name in TRANSACTION_TYPES:
        if name in table.values:
            table.note(name, "earns by its amount, so it cannot have a fixed award")
    return table.entries(figures.points(0), Points(0), may_be_empty=True)


def _tier_policy(table: Fields, tiers: Collection[str]) -> TierPolicy | None:
    period_months = table.read("period_months", _period, 12)
    steps = table.table("thresholds")
    thresholds = steps.entries(figures.points(1), Points(0))
    taken: dict[Points, str] = {}
    for name, points in thresholds.items():
        if name == BASE_TIER:
            steps.note(name, "everybody begins with this tier, so it has no threshold")
        elif tiers and name not in tiers:
            steps.note(name, f"not a tier of this card; those are {', '.join(filter(fields.is_name, tiers))}")
        elif points and taken.setdefault(points, name) != name:
            steps.note(name, f"{points} is the threshold of {taken[points]} already")
    table.refuse_unknown()
    return TierPolicy(period_months, thresholds) if table.values else None


def _point_value(table: Fields) -> PointValue | None:
    money = table.read("money", figures.amount, CENT)
    step = table.read_if_there("step", figures.amount, CENT)
    table.refuse_unknown()
    return PointValue(money, step) if table.values else None


def _period(value: object) -> int:
    months = fields.whole(1, 12)(value)
    if 12 % months:
        raise fields.Bad(f"{months} does not divide a year; write 1, 2, 3, 4, 6 or 12")
    return months


def _frozen(mapping: Mapping[str, V]) -> Mapping[str, V]:
    return MappingProxyType(dict(mapping))


def _at_fixed_offset(at: datetime, zone: ZoneInfo) -> datetime:
    if at.utcoffset() is None:
        raise ValueError(f"effective_from has no offset: {at.isoformat()}")
    local = at.astimezone(zone)
    offset = local.utcoffset() or timedelta(0)
    if offset % timedelta(minutes=1):  # a local mean time of long ago, which TOML cannot write
        return at.astimezone(UTC)
    return local.replace(tzinfo=timezone(offset), fold=0)
