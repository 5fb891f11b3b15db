"""What is known of a member before a rule asks. Pure values."""

from typing import NamedTuple


class Standing(NamedTuple):
    """What is known of the member where the points are with which it pays."""

    country: str
    tier: str
    balance: int
    available: int
