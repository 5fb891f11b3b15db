"""A range of time in equal steps, for a chart. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

SECONDS: Final = {"quarters": 900, "hours": 3600, "days": 86400}
MOST: Final = 400


class Span(NamedTuple):
    """From the one second since 1970 up to and without the other."""

    begin: int
    end: int


def spans_of(begin: int, end: int, step: str) -> Sequence[Span]:
    """Both ends are floored to the quarter of an hour. Raises `ValueError`, in words, for more steps than a chart holds
    or none.
    """
    size, quarter = SECONDS[step], SECONDS["quarters"]
    begin, end = begin - begin % quarter, end - end % quarter
    if end <= begin:
        raise ValueError("The range ends before it begins.")
    count = -(-(end - begin) // size)
    if count > MOST:
        raise ValueError(f"That is {count:,} {step}; a chart holds {MOST}. Take longer steps or a shorter range.")
    return [Span(at, min(at + size, end)) for at in range(begin, end, size)]
