"""What a partner says of a transfer, by whichever carrier. Pure values.

Everything else that it may say, an error of any kind too, is `Silence`: it says nothing about the points.
"""

from typing import NamedTuple, TypeAlias


class Credited(NamedTuple):
    """The partner has credited `amount` of its points: for ever, under the transfer's id."""

    amount: int
    reference: str | None = None


class Pending(NamedTuple):
    """The partner has the transfer, and has not decided. A partner that says it `by_itself` need not be asked again."""

    detail: str | None = None
    by_itself: bool = False


class Rejected(NamedTuple):
    """The partner refuses the id for ever, with a type of the contract's list."""

    type: str
    detail: str | None = None


class Cancelled(NamedTuple):
    """The partner's tombstone: it has not credited, and will refuse the id for ever."""


class NotKnown(NamedTuple):
    """The partner knows no such id. The first message may still be on its way."""


class OtherFacts(NamedTuple):
    """The partner has the id with other facts."""

    detail: str | None = None


class TakenBack(NamedTuple):
    """The partner has debited again what it had credited."""


class NotTakenBack(NamedTuple):
    """The partner does not take this transfer back, for ever."""

    detail: str | None = None


class Silence(NamedTuple):
    """No answer, or none that says anything. The next question is not put before `retry_after_s`, if that is said."""

    why: str
    retry_after_s: float | None = None


Heard: TypeAlias = (
    Credited | Pending | Rejected | Cancelled | NotKnown | OtherFacts | TakenBack | NotTakenBack | Silence
)
