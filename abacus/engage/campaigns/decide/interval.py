"""How sure a share is, and the difference of two: intervals at 95 %. Pure."""

import math
from typing import Final, NamedTuple

_Z: Final = 1.959963984540054  # a normal variable lies so far from its middle once in twenty times


class Interval(NamedTuple):
    """From one share to another."""

    low: float
    high: float


def share_interval(of: int, all_: int) -> Interval | None:
    """Wilson's interval of a share, which holds for few cases too; None without any case."""
    if not all_:
        return None
    share, z2 = of / all_, _Z * _Z
    middle = (share + z2 / (2 * all_)) / (1 + z2 / all_)
    width = _Z * math.sqrt(share * (1 - share) / all_ + z2 / (4 * all_ * all_)) / (1 + z2 / all_)
    return Interval(max(0.0, middle - width), min(1.0, middle + width))


def difference_interval(of: int, all_: int, base_of: int, base_all: int) -> Interval | None:
    """Newcombe's interval of how much greater the first share is than the second; None without any case of either."""
    first, second = share_interval(of, all_), share_interval(base_of, base_all)
    if first is None or second is None:
        return None
    share, base = of / all_, base_of / base_all
    difference = share - base
    below = math.hypot(share - first.low, second.high - base)
    above = math.hypot(first.high - share, base - second.low)
    return Interval(difference - below, difference + above)
