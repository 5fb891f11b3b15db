"""Decides when a failed delivery is attempted again or given up. Pure, with an injected random generator."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, Protocol

from abacus.core.backoff import Backoff
from abacus.platform.delivery.types import Answer, Claim, ClaimT, DeliveryOutcome, Said, Verdict


class FailingClaim(Claim, Protocol):
    """A claim that says since when it fails."""

    @property
    def failing_since(self) -> datetime | None: ...


def failing_for(at_most: timedelta) -> Callable[[FailingClaim, datetime], datetime]:
    """The time since the first failure, not since the delivery was made: a delivery that waited for its turn still has
    all its time.
    """
    return lambda claim, now: (claim.failing_since or now) + at_most


class Schedule(NamedTuple, Generic[ClaimT]):
    """Growing waits between attempts, until the time of a claim is up. `retry_until` gives that time, as of the attempt
    that ends now.
    """

    backoff: Backoff
    retry_until: Callable[[ClaimT, datetime], datetime]
    rng: random.Random

    def verdict(self, claim: ClaimT, answer: Answer, now: datetime) -> Verdict:
        """The verdict on an attempt. The last wait ends when the time is up, so one more attempt follows it. A receiver
        may demand a longer wait than ours.
        """
        if answer.said is Said.ACCEPTED:
            return Verdict(DeliveryOutcome.DELIVERED)
        if answer.said is Said.GONE:
            return Verdict(DeliveryOutcome.GONE, reason=answer.detail)
        until = self.retry_until(claim, now)
        if answer.said is Said.REFUSED or now >= until:
            return Verdict(DeliveryOutcome.GIVEN_UP, reason=answer.detail)
        wanted = now + timedelta(seconds=self.backoff.wait(claim.attempts, self.rng))
        return Verdict(DeliveryOutcome.RETRIED, min(max(wanted, answer.not_before or wanted), until), answer.detail)
