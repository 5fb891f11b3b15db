"""The changes that a new rate card makes, in words for the people who have to approve it. Pure."""

from collections.abc import Callable, Mapping
from datetime import datetime, time
from decimal import Context, Decimal
from operator import attrgetter
from typing import Final

from abacus.core.points import EXACT, plain
from abacus.pricing.decide.card import RateCard, TierPolicy
from abacus.pricing.decide.point_value import PointValue

_THREE_DIGITS: Final = Context(prec=3)  # of a percentage: enough for the eye
_HEAD: Final = (
    "scope",
    "program",
    "currency",
    "timezone",
    "rounding",
    "expiry_months",
    "expiry",
    "on_shortfall",
    "vests_after_days",
)
_head: Final[Callable[[RateCard], tuple[str | int | None, ...]]] = attrgetter(*_HEAD)
_TABLES: Final = ("verticals", "payment_types", "tiers", "fixed_awards")


def describe_changes(old: RateCard | None, new: RateCard) -> list[str]:
    """One line a change; none when the cards are equal. Without an old card, everything is new."""
    if old is None:
        return [f"first card of {new.scope}, effective from {_date(new.effective_from)}", *_contents(new)]
    changes = [
        f"{name}: {_said(was)} → {_said(now)}"
        for name, was, now in zip(_HEAD, _head(old), _head(new), strict=True)
        if was != now
    ]
    if old.eppf != new.eppf:
        changes.append(f"eppf: {_change(old.eppf, new.eppf)}")
    for path, was, now in zip(_TABLES, _tables(old), _tables(new), strict=True):
        changes += _entries(path, was, now)
    changes += _policy(old.tier_policy, new.tier_policy)
    changes += _entries("point_value", _value(old.point_value), _value(new.point_value))
    if old.effective_from != new.effective_from:
        changes.append(_start(old.effective_from, new.effective_from))
    return changes


def _tables(card: RateCard) -> tuple[Mapping[str, Decimal | int], ...]:
    return card.verticals, card.payment_types, card.tiers, card.fixed_awards


def _contents(card: RateCard) -> list[str]:
    lines = [f"{name}: {value}" for name, value in zip(_HEAD[1:], _head(card)[1:], strict=True) if value is not None]
    lines.append(f"eppf: {plain(card.eppf)}")
    for path, entries in zip(_TABLES, _tables(card), strict=True):
        lines += [f"{path}.{name}: {_number(value)}" for name, value in entries.items()]
    return lines + _policy(None, card.tier_policy) + _entries("point_value", {}, _value(card.point_value))


def _said(value: str | int | None) -> str | int:
    return "none" if value is None else value


def _value(value: PointValue | None) -> Mapping[str, Decimal]:
    return {} if value is None else {"money": value.money, "step": value.step}


def _policy(old: TierPolicy | None, new: TierPolicy | None) -> list[str]:
    lines = []
    if old is None and new is not None:
        lines.append(f"tier_policy: added, by periods of {new.period_months} months")
    elif old is not None and new is None:
        lines.append("tier_policy: removed")
    elif old is not None and new is not None and old.period_months != new.period_months:
        lines.append(f"tier_policy.period_months: {old.period_months} → {new.period_months}")
    return lines + _entries("tier_policy.thresholds", old.thresholds if old else {}, new.thresholds if new else {})


def _entries(path: str, old: Mapping[str, Decimal | int], new: Mapping[str, Decimal | int]) -> list[str]:
    changes = []
    for name in sorted(old.keys() | new.keys()):
        was, now = old.get(name), new.get(name)
        if was is None and now is not None:
            changes.append(f"{path}.{name}: added at {_number(now)}")
        elif was is not None and now is None:
            changes.append(f"{path}.{name}: removed (was {_number(was)})")
        elif was is not None and now is not None and was != now:
            changes.append(f"{path}.{name}: {_change(was, now)}")
    return changes


def _change(was: Decimal | int, now: Decimal | int) -> str:
    words = f"{_number(was)} → {_number(now)}"
    if not was:
        return words  # nothing grows out of zero by any percentage
    difference = EXACT.multiply(EXACT.subtract(Decimal(now), Decimal(was)), Decimal(100))
    percent = _THREE_DIGITS.normalize(_THREE_DIGITS.divide(difference, Decimal(was)))
    return f"{words} ({percent:+f} %)"


def _start(was: datetime, now: datetime) -> str:
    words = f"effective from {_date(now)} (was {_date(was)})"
    if now.utcoffset() != was.utcoffset() and _date(now) == _date(was):
        words = f"effective from {now.isoformat()} (was {was.isoformat()})"
    if now > was:
        return f"{words}: late transactions before that keep the old rates"
    return f"{words}: earlier than the old card, which stays in force from its own start on"


def _date(at: datetime) -> str:
    return at.date().isoformat() if at.time() == time() else at.isoformat()


def _number(value: Decimal | int) -> str:
    return plain(value) if isinstance(value, Decimal) else str(value)
