"""The words of a delivery: claim, answer, verdict, and how much may be under way. Pure."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

LEASE: Final = timedelta(seconds=60)  # longer than any attempt takes


class Claim(Protocol):
    """A delivery that this process has taken: nobody else takes it until the lease is over."""

    @property
    def id(self) -> str:
        """The same at every attempt, so that a receiver knows what it has seen."""
        ...

    @property
    def receiver(self) -> str:
        """Deliveries to one receiver may be limited; receivers do not wait for each other."""
        ...

    @property
    def attempts(self) -> int:
        """How many there were, with this one."""
        ...


ClaimT = TypeVar("ClaimT", bound=Claim)


class Said(StrEnum):
    """What a receiver said to one attempt."""

    ACCEPTED = "accepted"
    FAILED = "failed"  # it may accept it later
    REFUSED = "refused"  # it will never accept this delivery
    GONE = "gone"  # it will never accept any delivery


class Answer(NamedTuple):
    """What came of one attempt, with the words for people. `status` is that of HTTP, where the receiver gave one;
    before `not_before` it wants no other attempt.
    """

    said: Said
    detail: str = ""
    status: int | None = None
    not_before: datetime | None = None


class DeliveryOutcome(StrEnum):
    """The list is closed: metrics count by it."""

    DELIVERED = "delivered"
    RETRIED = "retried"  # failed, to be attempted again
    GIVEN_UP = "given_up"  # a person may send it again
    GONE = "gone"


class Verdict(NamedTuple):
    """What follows from an attempt; when the next one is due, where there is one; why it is not delivered."""

    outcome: DeliveryOutcome
    retry_at: datetime | None = None
    reason: str | None = None


class Settled(NamedTuple, Generic[ClaimT]):
    """A claim with its answer and the verdict, to be written down."""

    claim: ClaimT
    answer: Answer
    verdict: Verdict


class Concurrency(NamedTuple):
    """How many deliveries one process attempts at once: in all, and to one receiver where that is limited. More are
    taken when `batch` of them have ended.
    """

    at_once: int
    per_receiver: int | None = None
    batch: int = 1


class Room(NamedTuple):
    """How many deliveries may be taken now: in all, and to one receiver. `busy` counts what is to be subtracted for
    each receiver.
    """

    most: int
    per_receiver: int
    busy: Mapping[str, int]


class Backlog(NamedTuple):
    """How many deliveries are not settled for good, and since when the oldest of them waits."""

    deliveries: int
    oldest: datetime | None

    def age_s(self, now: datetime) -> float:
        """Nought where nothing waits."""
        return max(0.0, (now - self.oldest).total_seconds()) if self.oldest is not None else 0.0
