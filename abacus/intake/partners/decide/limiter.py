"""Limits the requests of a partner by a bucket that fills evenly. Pure; each process counts its own."""

import math
from typing import NamedTuple


class Permit(NamedTuple):
    """The values of the `RateLimit` headers; `wait_s` is 0 when the request may pass."""

    limit: int
    remaining: int
    reset_s: int
    wait_s: int


class RateLimiter:
    """Lets a minute's requests pass at once, and after that one request each time the bucket has room."""

    def __init__(self) -> None:
        self._full_at: dict[str, float] = {}  # when each partner's bucket will be full again

    def take(self, partner_id: str, per_minute: int, now: float) -> Permit:
        cost = 60.0 / per_minute
        full_at = max(now, self._full_at.get(partner_id, now))
        wait = full_at + cost - now - 60.0
        if wait > 1e-6:  # noqa: PLR2004  # the rounding error of adding sixtieths
            return Permit(per_minute, 0, math.ceil(full_at - now), max(1, math.ceil(wait)))
        full_at += cost
        self._full_at[partner_id] = full_at
        return Permit(per_minute, int((60.0 - (full_at - now)) / cost + 1e-6), math.ceil(full_at - now), 0)
