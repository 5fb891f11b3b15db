"""Decides when a failed delivery is attempted again or given up. Pure, with an injected random generator."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Generic, NamedTuple

from abacus.core.backoff import Backoff
from abacus.platform.delivery.types import Answer, ClaimT, DeliveryOutcome, Said, Verdict


class Schedule(NamedTuple, Generic[ClaimT]):
    """Growing waits between attempts, until the time of a claim is up. `retry_until` gives that time, as of the attempt
    that ends now.
    """

    backoff: Backoff
    retry_until: Callable[[ClaimT, datetime], datetime]
    rng: random.Random

    def verdict(self, claim: ClaimT, answer: Answer, now: datetime) -> Verdict:
        return verdict(
            answer,
            now,
            attempts=claim.attempts,
            retry_until=self.retry_until(claim, now),
            backoff=self.backoff,
            rng=self.rng,
        )


def verdict(
    answer: Answer, now: datetime, *, attempts: int, retry_until: datetime, backoff: Backoff, rng: random.Random
) -> Verdict:
    """The verdict after so many attempts. The last wait ends when the time is up, so one more attempt follows it. A
    receiver may demand a longer wait than ours.
    """
    if answer.said is Said.ACCEPTED:
        return Verdict(DeliveryOutcome.DELIVERED)
    if answer.said is Said.GONE:
        return Verdict(DeliveryOutcome.GONE, reason=answer.detail)
    if answer.said is Said.REFUSED or now >= retry_until:
        return Verdict(DeliveryOutcome.GIVEN_UP, reason=answer.detail)
    wanted = now + timedelta(seconds=backoff.wait(attempts, rng))
    return Verdict(DeliveryOutcome.RETRIED, min(max(wanted, answer.not_before or wanted), retry_until), answer.detail)
