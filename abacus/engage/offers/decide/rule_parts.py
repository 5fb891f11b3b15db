"""The rule of an offer taken apart, so that tiers and segments are looked at before the rest. Pure."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from abacus.signals.facts.decide.catalog import SEGMENT, TIER
from abacus.signals.rules.decide.plan import RulePlan
from abacus.signals.rules.decide.types import AllOf, Condition, Operator, Rule

_SHARED: Final = 100_000  # rules that many offers have alike


class Parts(NamedTuple):
    """The parts of a rule that have to hold: one of these tiers, these segments, and the rest, part by part."""

    tiers: frozenset[str] | None = None
    segments: tuple[str, ...] = ()
    rest: tuple[Rule, ...] = ()


def parts_of(rule: Rule | None) -> Parts:
    """Takes out of a rule the tiers and the segments that it wants in any case. Equal parts are shared."""
    return _parts(rule) if rule is not None else Parts()


@lru_cache(maxsize=_SHARED)
def _parts(rule: Rule) -> Parts:
    tiers: frozenset[str] | None = None
    segments: list[str] = []
    rest: list[Rule] = []
    for part in _joined(rule):
        if (some := _tiers_of(part)) is not None:
            tiers = some if tiers is None else tiers & some
        elif (segment := _segment_of(part)) is not None:
            segments.append(segment)
        else:
            rest.append(part)
    return Parts(tiers, tuple(segments), tuple(rest))


def _joined(rule: Rule) -> Iterator[Rule]:
    """The parts that all have to hold."""
    if isinstance(rule, AllOf):
        for part in rule.conditions:
            yield from _joined(part)
    else:
        yield rule


def _tiers_of(part: Rule) -> frozenset[str] | None:
    match part:
        case Condition(operator=Operator.EQ, lhs=side, rhs=str() as tier) if side.text == TIER:
            return frozenset({tier})
        case Condition(operator=Operator.IN, lhs=side, rhs=frozenset() as tiers) if side.text == TIER:
            return frozenset(each for each in tiers if isinstance(each, str))
    return None


def _segment_of(part: Rule) -> str | None:
    match part:
        case Condition(operator=Operator.EQ, lhs=side, rhs=True) if side.place == SEGMENT:
            return side.name
    return None


@lru_cache(maxsize=_SHARED)
def plan_of(parts: tuple[Rule, ...]) -> RulePlan:
    """The plan of parts that all have to hold. Equal parts share one."""
    return RulePlan(parts[0] if len(parts) == 1 else AllOf(parts))
