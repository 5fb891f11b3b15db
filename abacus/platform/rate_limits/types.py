"""The words of rate limits: bucket, wish, grant, permit. Pure."""

from typing import NamedTuple


class Wish(NamedTuple):
    """Tokens that a process wants out of a bucket, or returns when the number is negative. The limit is the number of
    tokens that the bucket holds, and that flow into it in a minute.
    """

    id: str
    limit: int
    tokens: int


class Grant(NamedTuple):
    """The tokens that the process has got, and when the bucket will be full again, in seconds since 1970."""

    tokens: int
    full_at: float


class Permit(NamedTuple):
    """The values of the `RateLimit` headers; `wait_s` is 0 when the request may pass."""

    limit: int
    remaining: int
    reset_s: int
    wait_s: int
