"""The errors of the client, one class for each remedy of the caller."""

from collections.abc import Sequence

from abacus_client.problem import Problem


class ApiError(Exception):
    """The call failed. Tell the operator of the API the `request_id`."""

    def __init__(self, problem: Problem, idempotency_keys: Sequence[str] = ()) -> None:
        super().__init__(problem, idempotency_keys)
        self.problem = problem
        self.status = problem.status
        self.type = problem.type
        self.title = problem.title
        self.detail = problem.detail
        self.request_id = problem.request_id
        self.errors = problem.errors
        self.award_id = problem.award_id
        self.retry_after = problem.retry_after
        self.idempotency_keys = tuple(idempotency_keys)

    @property
    def idempotency_key(self) -> str | None:
        """The key of the award; a batch has `idempotency_keys`, one for each of its items."""
        return self.idempotency_keys[0] if len(self.idempotency_keys) == 1 else None

    def __str__(self) -> str:
        status = "" if self.status is None else f"{self.status} "
        request = "" if self.request_id is None else f" (request {self.request_id})"
        return f"{status}{self.type}: {self.detail or self.title}{request}"


class Unauthorized(ApiError):
    """The key or the signature does not hold: mend the configuration."""


class Refused(ApiError):
    """The request is wrong, or not allowed: asking again will not help."""


class Unavailable(ApiError):
    """Every try failed, each for a passing reason. An award may have arrived: send it again under the same key."""


def error_of(problem: Problem, idempotency_keys: Sequence[str] = ()) -> ApiError:
    if problem.passing:
        return Unavailable(problem, idempotency_keys)
    if problem.status == 401:  # noqa: PLR2004  # HTTP's number for it
        return Unauthorized(problem, idempotency_keys)
    if problem.status is not None and 400 <= problem.status < 500:  # noqa: PLR2004  # the errors that are the caller's
        return Refused(problem, idempotency_keys)
    return ApiError(problem, idempotency_keys)
