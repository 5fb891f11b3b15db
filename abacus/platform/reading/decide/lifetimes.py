"""For how long an answer is fresh, and then stale. Pure."""

from typing import NamedTuple


class Lifetimes(NamedTuple):
    """A `fresh` answer is given as it is. For `stale_s` more it is given while it is refreshed behind the answer. After
    that it is computed anew before it is given; an answer that cannot be computed is given for `away_s` more.

    Each answer is fresh for its own part of `fresh_s`, at random between `1 - jitter` and 1, so that what was computed
    together is not refreshed together.
    """

    fresh_s: float
    stale_s: float = 0.0
    away_s: float = 0.0
    jitter: float = 0.2

    def fresh_for(self, chance: float) -> float:
        """`chance`: from 0 to 1."""
        return self.fresh_s * (1 - self.jitter * chance)

    @property
    def kept_s(self) -> float:
        """After this an answer is gone, whatever happens."""
        return self.fresh_s + self.stale_s + self.away_s
