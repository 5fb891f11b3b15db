"""Decides when a transaction is tried again and when trying ends. Pure."""

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from abacus.core.backoff import Backoff


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Delays grow exponentially with full jitter, up to SQS' longest delay; trying ends after a day."""

    give_up_after: timedelta = timedelta(hours=24)
    backoff: Backoff = field(default=Backoff(first_s=2.0, longest_s=900.0))

    def delay_s(self, attempt: int, rng: random.Random) -> int:
        return int(self.backoff.wait(attempt, rng))

    def exhausted(self, first_failed_at: datetime, now: datetime) -> bool:
        return now - first_failed_at >= self.give_up_after
