"""Limits and stocks as bars: how much is used, and how much is left. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from abacus.engage.limits.decide.limit_reader import LimitWords
from abacus.engage.limits.types import MICROS, NOTHING, Amounts, Bound, Limits

OVERALL: Final = ""  # the period of the whole life of an owner


@dataclass(frozen=True)
class Bar:
    """What is used of something, in words and as a share from 0 to 1. `reserved` is that part of it that is held and
    may come back. `is_low`: somebody has to see to it.
    """

    name: str
    used: str
    most: str
    left: str
    share: float
    reserved: str | None = None
    is_low: bool = False


@dataclass(frozen=True)
class Counted:
    """What is used of the limits of all members, by period: over the whole life, and by day. Of what is used some may
    only be `reserved`.
    """

    used: Mapping[str, Amounts]
    reserved: Mapping[str, Amounts] | None = None


def bars_of(limits: Limits, words: LimitWords, counted: Counted, today: str | None = None) -> list[Bar]:
    """The bars of all members together, over the whole life and, where one is named, of `today`."""
    bars = _bars(limits.overall, words, counted, OVERALL, "")
    return bars if today is None else bars + _bars(limits.day, words, counted, today, " today")


def _bars(bound: Bound, words: LimitWords, counted: Counted, period: str, when: str) -> list[Bar]:
    used = counted.used.get(period, NOTHING)
    held = counted.reserved.get(period, NOTHING) if counted.reserved is not None else None
    bars, names = [], (words.runs, words.points or "", words.money)
    for place, (word, most) in enumerate(zip(names, bound, strict=True)):
        if most is None:
            continue
        is_money = bound._fields[place] == "cost"
        reserved = None if held is None else _amount(held[place], is_money=is_money)
        bars.append(bar(word + when, used[place], most, is_money=is_money, reserved=reserved))
    return bars


def bar(
    name: str, used: int, most: int, *, is_money: bool = False, reserved: str | None = None, is_low: bool = False
) -> Bar:
    """`used` of `most`; money in millionths."""
    return Bar(
        name,
        _amount(used, is_money=is_money),
        _amount(most, is_money=is_money),
        _amount(max(0, most - used), is_money=is_money),
        min(1.0, used / most) if most else 1.0,
        reserved,
        is_low,
    )


def _amount(amount: int, *, is_money: bool) -> str:
    return f"{amount / MICROS:,.2f}" if is_money else f"{amount:,}"
