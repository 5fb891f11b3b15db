"""Codes that there are not: a caller who tries too many waits, whatever it tries next."""

import time
from collections.abc import Callable
from typing import Final

from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, PersonCall
from abacus.platform.rate_limits.limiter import RateLimiter

_A_MINUTE: Final = 30  # of one caller
_MOST_CALLERS: Final = 10_000


class Guesses:
    """One for each process; the guesses of a caller are counted over all of them, and with each of its keys: a test key
    tries the codes of live offers.
    """

    def __init__(self, limiter: RateLimiter, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._limiter = limiter
        self._monotonic = monotonic
        self._until: dict[str, float] = {}

    def check(self, call: Call | PersonCall) -> None:
        """Before codes are looked at. Raises `ApiProblem` for a caller who has to wait: a right guess would pass beside
        any number of wrong ones otherwise.
        """
        wait_s = self._until.get(call.agent.source, 0.0) - self._monotonic()
        if wait_s > 0:
            raise _too_many(int(wait_s) + 1)

    async def count(self, call: Call | PersonCall, wrong: int) -> None:
        """Raises `ApiProblem` for a caller who tries too many."""
        caller = call.agent.source
        for _ in range(wrong):
            permit = await self._limiter.take(f"codes:{caller}", _A_MINUTE)
            if permit.wait_s:
                if len(self._until) >= _MOST_CALLERS:
                    self._until.clear()
                self._until[caller] = self._monotonic() + permit.wait_s
                raise _too_many(permit.wait_s)


def _too_many(wait_s: int) -> ApiProblem:
    detail = f"more than {_A_MINUTE} codes a minute that there are not"
    return ApiProblem("too-many-requests", detail, headers={"Retry-After": str(wait_s)})
