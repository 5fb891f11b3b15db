"""An ask is tried again while the reason of its failure may pass, but not for ever. Neither sends nor sleeps."""

import random
from dataclasses import dataclass, field
from typing import Generic

import httpx

from abacus.client.asks import Answer, Ask
from abacus.client.errors import ApiError, error_of
from abacus.client.problem import Problem, problem_of, unreadable
from abacus.core.backoff import Backoff


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often an ask is repeated, and how long its waits may be together."""

    retries: int = 3
    longest_s: float = 60.0
    backoff: Backoff = field(default_factory=lambda: Backoff(first_s=0.2, longest_s=10.0))

    def wait(self, problem: Problem, failures: int, waited_s: float, rng: random.Random) -> float | None:
        """How long to wait before the next try; nothing, when there is to be none.

        Never shorter than the API says, and a little longer, so that those it put off do not come back together.
        """
        if not problem.passing or failures > self.retries:
            return None
        wait_s = (problem.retry_after or 0) + self.backoff.wait(failures, rng)
        return wait_s if waited_s + wait_s <= self.longest_s else None


class Tries(Generic[Answer]):
    """One ask, from its first try to its answer or its error."""

    def __init__(self, ask: Ask[Answer], policy: RetryPolicy, rng: random.Random) -> None:
        self._ask = ask
        self._policy = policy
        self._rng = rng
        self._failures = 0
        self._waited_s = 0.0
        self._success: httpx.Response | None = None

    def wait_after(self, got: httpx.Response | httpx.RequestError) -> float | None:
        """How long to wait before the next try; nothing after a success. Raises `ApiError` after the last failure."""
        if isinstance(got, httpx.Response) and got.is_success:
            self._success = got
            return None
        self._failures += 1
        problem = problem_of(got)
        wait_s = self._policy.wait(problem, self._failures, self._waited_s, self._rng)
        if wait_s is None:
            cause = got if isinstance(got, httpx.RequestError) else None
            raise error_of(problem, self._ask.idempotency_keys) from cause
        self._waited_s += wait_s
        return wait_s

    def answer(self) -> Answer:
        """Raises `ApiError` for a success that does not read like one of this API."""
        assert self._success is not None  # noqa: S101  # asked for once there is nothing more to wait for
        try:
            return self._ask.read(self._success, self._ask.idempotency_keys)
        except ValueError as error:
            raise ApiError(unreadable(self._success, error), self._ask.idempotency_keys) from error
