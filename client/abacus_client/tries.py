"""Decides whether and when a call is tried again. Neither sends nor sleeps."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic

import httpx

from abacus_client.calls import Answer, Call
from abacus_client.errors import ApiError, error_of
from abacus_client.problem import Problem, problem_of, unreadable

Sleep = Callable[[float], None]
AsyncSleep = Callable[[float], Awaitable[None]]

_FIRST_S: Final = 0.2
_LONGEST_S: Final = 10.0


def backoff(failures: int, rng: random.Random) -> float:
    """A random wait up to a ceiling that doubles with each failure, so that clients which failed together do not come
    back together.
    """
    return rng.uniform(0.0, min(_LONGEST_S, _FIRST_S * 2.0 ** min(failures - 1, 40)))


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The number of tries of a call, and the limit of its waits together."""

    retries: int = 3
    longest_s: float = 60.0

    def wait(self, problem: Problem, failures: int, waited_s: float, rng: random.Random) -> float | None:
        """The wait before the next try; None when there is no further try.

        A little longer than the API demands, so that clients which it put off do not come back together.
        """
        if not problem.passing or failures > self.retries:
            return None
        wait_s = (problem.retry_after or 0) + backoff(failures, rng)
        return wait_s if waited_s + wait_s <= self.longest_s else None


class Tries(Generic[Answer]):
    """One call, from its first try to its answer or its error."""

    def __init__(self, call: Call[Answer], policy: RetryPolicy, rng: random.Random) -> None:
        self._call = call
        self._policy = policy
        self._rng = rng
        self._failures = 0
        self._waited_s = 0.0
        self._success: httpx.Response | None = None

    def wait_after(self, outcome: httpx.Response | httpx.RequestError) -> float | None:
        """The wait before the next try; None after a success. Raises `ApiError` after the last failure."""
        if isinstance(outcome, httpx.Response) and outcome.is_success:
            self._success = outcome
            return None
        self._failures += 1
        problem = problem_of(outcome)
        cause = outcome if isinstance(outcome, httpx.RequestError) else None
        is_over = self._call.once and cause is not None
        wait_s = None if is_over else self._policy.wait(problem, self._failures, self._waited_s, self._rng)
        if wait_s is None:
            raise error_of(problem, self._call.idempotency_keys) from cause
        self._waited_s += wait_s
        return wait_s

    def answer(self) -> Answer:
        """The answer of the call. Raises `ApiError` for a success with an unreadable answer."""
        assert self._success is not None  # noqa: S101  # called only after `wait_after` returned None
        try:
            return self._call.read(self._success, self._call.idempotency_keys)
        except ValueError as error:
            raise ApiError(unreadable(self._success, error), self._call.idempotency_keys) from error
