"""A bucket that holds a minute's tokens and fills evenly. Pure.

All that there is to know of it is when it will be full again: a token that is taken moves that time on.
"""

import math
from typing import Final

from abacus.platform.rate_limits.types import Grant, Permit, Wish

_MINUTE_S: Final = 60.0
_NEARLY: Final = 1e-5  # of a token: times are kept in microseconds
_SHARE: Final = 20  # of a limit, that one process holds at a time


def handful(limit: int) -> int:
    """How many tokens a process takes at a time."""
    return max(1, limit // _SHARE)


def grant(wish: Wish, full_at: float, now: float) -> Grant:
    """As many of the tokens as there are."""
    full_at = _sound(full_at, now)
    tokens = min(wish.tokens, _room(wish.limit, full_at, now))
    return Grant(tokens, full_at + tokens * _cost_s(wish.limit))


def passing(limit: int, full_at: float, now: float) -> Permit:
    """The permit of a request whose token is taken, as of a bucket that will be full then."""
    full_in = min(max(full_at - now, 0.0), _MINUTE_S)
    return Permit(limit, int((_MINUTE_S - full_in) * limit / _MINUTE_S + _NEARLY), math.ceil(full_in), 0)


def refusal(limit: int, full_at: float, now: float) -> Permit:
    """The permit of a request for which there is no token."""
    full_at = _sound(full_at, now)
    return Permit(limit, 0, math.ceil(full_at - now), max(1, math.ceil(token_in_s(limit, full_at, now))))


def token_in_s(limit: int, full_at: float, now: float) -> float:
    """The seconds until the bucket has a token."""
    return max(0.0, full_at + _cost_s(limit) - now - _MINUTE_S)


def without(tokens: int, limit: int, full_at: float) -> float:
    """When the bucket would be full again if these tokens had not been taken."""
    return full_at - tokens * _MINUTE_S / limit


def _cost_s(limit: int) -> float:
    return _MINUTE_S / limit


def _room(limit: int, full_at: float, now: float) -> int:
    return int((_MINUTE_S - (full_at - now)) / _cost_s(limit) + _NEARLY)


def _sound(full_at: float, now: float) -> float:
    """Never longer than a minute, whatever a clock said before it was set back."""
    return min(max(full_at, now), now + _MINUTE_S)
