"""The words of a delivery: claim, answer, verdict, and how much may be under way. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

LEASE: Final = timedelta(seconds=60)  # longer than any attempt takes


class Claim(Protocol):
    """A delivery that this process has taken: nobody else takes it until the lease is over."""

    @property
    def id(self) -> str:
        """The same at every attempt, so that a receiver recognises a repetition."""
        ...

    @property
    def receiver(self) -> str:
        """Deliveries to one receiver may be limited; receivers do not wait for each other."""
        ...

    @property
    def attempts(self) -> int:
        """The number of attempts, this one included."""
        ...


class Lease(NamedTuple):
    """The row that a claim has, and until when. The end identifies the claim: every other one ends at another time."""

    key: tuple[Any, ...]
    member_id: str
    until: datetime


class LeasedClaim(Claim, Protocol):
    """A claim of an outbox."""

    @property
    def lease(self) -> Lease: ...


ClaimT = TypeVar("ClaimT", bound=Claim)


class Said(StrEnum):
    """The receiver's reaction to one attempt."""

    ACCEPTED = "accepted"
    FAILED = "failed"  # it may accept it later
    REFUSED = "refused"  # it will never accept this delivery
    GONE = "gone"  # it will never accept any delivery


class Answer(NamedTuple):
    """The result of one attempt, with the words for people. `status` is the HTTP status, if there was one; the receiver
    wants no other attempt before `not_before`.
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
    """Our decision after an attempt: the outcome; the time of the next attempt, if there is one; the reason of a
    failure.
    """

    outcome: DeliveryOutcome
    retry_at: datetime | None = None
    reason: str | None = None


class Settled(NamedTuple, Generic[ClaimT]):
    """A claim with its answer and its verdict."""

    claim: ClaimT
    answer: Answer
    verdict: Verdict


class Concurrency(NamedTuple):
    """The limits of deliveries that one process attempts at once: in all, and to one receiver. More are taken when
    `batch` of them have ended.
    """

    at_once: int
    per_receiver: int | None = None
    batch: int = 1


class Room(NamedTuple):
    """The number of deliveries that may be taken now: in all, and to one receiver, less the `busy` ones of that
    receiver.
    """

    most: int
    per_receiver: int
    busy: Mapping[str, int]

    def without(self, taken: Sequence[Claim]) -> "Room":
        """What is left of it when these are taken."""
        return self._replace(
            most=self.most - len(taken), busy=Counter(each.receiver for each in taken) + Counter(self.busy)
        )


class Backlog(NamedTuple):
    """The number of deliveries that are not settled for good, and the time since which the oldest waits."""

    deliveries: int
    oldest: datetime | None

    def age_s(self, now: datetime) -> float:
        """The age of the oldest; 0 when nothing waits."""
        return max(0.0, (now - self.oldest).total_seconds()) if self.oldest is not None else 0.0
