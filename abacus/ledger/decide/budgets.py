"""A partner's budgets in a ledger in slices: handed out to them little by little, and the last point of them exactly.
Pure.

The whole is an allowance as well: what it says is used was awarded by the slices, or is in their hands. What a slice
gives back it may award again itself.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple, TypeVar

from abacus.ledger.decide.allowance import Allowance, Elsewhere

Place = TypeVar("Place")


class HandedOut(NamedTuple):
    """The whole, and the slice's part of it."""

    whole: Allowance
    part: Allowance


def opened(whole: Allowance) -> Allowance:
    """The part of a slice that had none: it may award nothing yet of what is limited."""
    limits = whole.limits
    return Allowance(limits, 0, date.min, 0, Elsewhere(limits.in_total or 0, limits.per_day or 0))


def handed_out(whole: Allowance, part: Allowance, wanted: int, share: int, today: date) -> HandedOut | None:
    """The whole and the part once the slice may award the `wanted` points: it is handed what it lacks, or one in
    `share` of what is left, where that is more. None when less is left than it lacks.
    """
    day = max(today, whole.day, part.day)
    whole, part = whole.on(day), part.on(day)
    limits, elsewhere = whole.limits, _elsewhere(part)
    in_total = _handed(limits.in_total, whole.used, part.gone, wanted, share)
    that_day = _handed(limits.per_day, whole.used_that_day, part.gone_that_day, wanted, share)
    if in_total is None or that_day is None:
        return None
    return HandedOut(
        whole._replace(used=whole.used + in_total, used_that_day=whole.used_that_day + that_day),
        part._replace(elsewhere=Elsewhere(elsewhere.in_total - in_total, elsewhere.that_day - that_day)),
    )


def counted(whole: Allowance, parts: Mapping[Place, Allowance], today: date) -> dict[Place, Allowance]:
    """The parts of all slices when nobody has anything in hand: each has what it has awarded, and the limits of the
    whole.
    """
    day = max([today, whole.day, *(part.day for part in parts.values())])
    on_day = {place: part.on(day)._replace(limits=whole.limits) for place, part in parts.items()}
    in_total = sum(part.used for part in on_day.values())
    that_day = sum(part.used_that_day for part in on_day.values())
    return {place: _without_rest(part, in_total, that_day) for place, part in on_day.items()}


def with_all(part: Allowance, others: Sequence[Allowance]) -> Allowance:
    """A part that may award all that is left, because all parts are counted and locked."""
    return part._replace(elsewhere=Elsewhere(sum(o.used for o in others), sum(o.used_that_day for o in others)))


def returned(part: Allowance) -> HandedOut:
    """What is left of all that it had goes back to the whole."""
    return HandedOut(
        part._replace(used=part.gone, used_that_day=part.gone_that_day, elsewhere=None),
        _without_rest(part, part.gone, part.gone_that_day),
    )


def added_up(whole: Allowance, parts: Sequence[Allowance]) -> Allowance:
    """What all slices have awarded together."""
    day = max((part.day for part in parts), default=date.min)
    that_day = sum(part.used_that_day for part in parts if part.day == day)
    return Allowance(whole.limits, sum(part.used for part in parts), day, that_day)


def _handed(limit: int | None, gone: int, gone_for_part: int, wanted: int, share: int) -> int | None:
    lacking = 0 if limit is None else gone_for_part + wanted - limit
    if limit is None or lacking <= 0:
        return 0
    left = limit - gone
    return None if lacking > left else max(lacking, left // share)


def _without_rest(part: Allowance, in_total: int, that_day: int) -> Allowance:
    """The part, when all have awarded so much. Where a limit was lowered below that, what a slice gives back is not its
    own to award before enough was given back.
    """
    limits = part.limits
    return part._replace(
        elsewhere=Elsewhere(
            0 if limits.in_total is None else max(limits.in_total, in_total) - part.used,
            0 if limits.per_day is None else max(limits.per_day, that_day) - part.used_that_day,
        )
    )


def _elsewhere(part: Allowance) -> Elsewhere:
    return part.elsewhere or Elsewhere(0, 0)
