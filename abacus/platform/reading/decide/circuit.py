"""Leaves a store alone for a while when it has failed several times in a row. Pure."""

from typing import Final, NamedTuple

_LONG_AGO: Final = float("-inf")


class Patience(NamedTuple):
    """How many failures in a row open a circuit, and how long the store rests then: twice as long each time, up to the
    longest.
    """

    failures: int = 3
    first_s: float = 1.0
    longest_s: float = 1.0


class Circuit(NamedTuple):
    """The failures of a store since its last answer. An open circuit lets one call through after each rest."""

    patience: Patience
    failures: int = 0
    rests_until: float = _LONG_AGO
    rest_s: float = 0.0  # the last one

    @property
    def is_open(self) -> bool:
        return self.failures >= self.patience.failures

    def may_ask(self, now: float) -> bool:
        return not self.is_open or now >= self.rests_until

    def asked(self, now: float) -> "Circuit":
        """Where it is open, other calls wait for the outcome of this one."""
        return self._replace(rests_until=now + self._next_rest_s) if self.is_open else self

    def failed(self, now: float) -> "Circuit":
        failures = self.failures + 1
        if failures < self.patience.failures:
            return self._replace(failures=failures)
        rest_s = self._next_rest_s
        return self._replace(failures=failures, rests_until=now + rest_s, rest_s=rest_s)

    def succeeded(self) -> "Circuit":
        return Circuit(self.patience)

    @property
    def _next_rest_s(self) -> float:
        return min(2 * self.rest_s, self.patience.longest_s) or self.patience.first_s
