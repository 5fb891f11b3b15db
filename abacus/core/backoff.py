"""How long to wait before the next try."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential growth with full jitter: anything between nothing and the ceiling of that attempt, so that many
    workers which failed together do not come back together.
    """

    first_s: float = 0.2
    longest_s: float = 15.0

    def ceiling(self, attempt: int) -> float:
        """The longest wait after this many failures; `attempt` counts from 1."""
        return min(self.longest_s, self.first_s * 2.0 ** min(attempt - 1, 40))

    def wait(self, attempt: int, rng: random.Random) -> float:
        return rng.uniform(0.0, self.ceiling(attempt))
