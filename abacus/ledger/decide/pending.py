"""Points that an account has and that vest later: they come with an award, and go when their day begins. Pure.

An account keeps them by day, as two numbers for each: the second at which the day begins, and the points. Nobody has to
touch an account for its points to vest: whoever looks at it leaves out the days that have begun, and the next change of
the account writes it without them. docs/adr/0115 has the argument.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from abacus.ledger.types.account import Account


def portions(vesting: Sequence[int] | None) -> dict[int, int]:
    """The points by the second at which they vest."""
    numbers = vesting or ()
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def vested(account: Account, now: datetime) -> Account:
    """The account at that time: without points whose day has begun."""
    if not account.vesting:
        return account
    second = now.timestamp()
    return _with(account, {begins: points for begins, points in portions(account.vesting).items() if begins > second})


def with_pending(account: Account, at: datetime | None, points: int, now: datetime) -> Account:
    """The account with so many points more that vest at that time, if that is still to come."""
    if at is None or at <= now:
        return account
    pending, begins = portions(vested(account, now).vesting), int(at.timestamp())
    return _with(account, {**pending, begins: pending.get(begins, 0) + points})


def pending_at(account: Account, at: datetime | None) -> int:
    """The points of the account that vest at that time."""
    return 0 if at is None else portions(account.vesting).get(int(at.timestamp()), 0)


def without(account: Account, at: datetime | None, points: int) -> Account:
    """The account with so many points less that vest at that time: they are taken back."""
    if at is None or not points:
        return account
    pending, begins = portions(account.vesting), int(at.timestamp())
    return _with(account, {**pending, begins: pending.get(begins, 0) - points})


def _with(account: Account, pending: Mapping[int, int]) -> Account:
    """Nothing is kept where nothing is pending."""
    numbers = [number for begins in sorted(pending) if pending[begins] for number in (begins, pending[begins])]
    return account._replace(vesting=numbers or None)
