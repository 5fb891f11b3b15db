"""The CPU that each process used for the transactions of a stretch of time. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.report import Figure

CORES: Final = 2
LEAST_US: Final = 0.1  # a smaller figure is left out

# The processes in the order in which a transaction passes them.
_PLACES: Final = ("load", "kafka", "calculator", "elasticmq", "awarder", "relay", "retrier", "expirer")


class Run(NamedTuple):
    """The number of transactions in so many seconds, and the CPU seconds of each process meanwhile."""

    done: int
    seconds: float
    cpu: Mapping[str, float]

    @property
    def per_s(self) -> float:
        return self.done / self.seconds

    @property
    def cpu_us(self) -> float:
        """Microseconds of CPU for one transaction, all processes together."""
        return sum(map(self.us_of, self.cpu))

    def us_of(self, name: str) -> float:
        return self.cpu.get(name, 0.0) / max(1, self.done) * 1e6


def together(runs: Sequence[Run]) -> Run:
    names = {name for run in runs for name in run.cpu}
    return Run(
        sum(run.done for run in runs),
        sum(run.seconds for run in runs),
        {name: sum(run.cpu.get(name, 0.0) for run in runs) for name in names},
    )


def cpu_figures(run: Run, other: Run, what: str) -> Iterator[Figure]:
    """The CPU of one transaction, in all and by process, beside the CPU that `other` needed."""
    yield Figure(
        "CPU of a transaction, all processes",
        f"{run.cpu_us:.0f} µs",
        f"{CORES / run.cpu_us * 1e6:,.0f}/s if {CORES} cores were its own; {other.cpu_us:.0f} µs {what}",
    )
    for name in sorted(run.cpu, key=_place):
        if run.us_of(name) >= LEAST_US:
            share = run.us_of(name) / run.cpu_us
            yield Figure(
                f"… {name}", f"{run.us_of(name):.1f} µs", f"{share:.0%} of all; {other.us_of(name):.1f} µs {what}"
            )


def _place(name: str) -> tuple[int, str]:
    return (_PLACES.index(name) if name in _PLACES else len(_PLACES), name)
