"""What is counted of exchanges."""

from collections import Counter as Tally
from collections.abc import Iterable
from typing import Final, Protocol

from prometheus_client import Counter, Gauge, Histogram

from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.heard import (
    Cancelled,
    Credited,
    Heard,
    NotKnown,
    NotTakenBack,
    OtherFacts,
    Pending,
    Rejected,
    Silence,
    TakenBack,
)

# programme: by its name; state: held, sent, unknown, captured, released, aside and the others of an exchange
EXCHANGES: Final = Counter("abacus_exchanges", "Exchanges that came to a state", ["programme", "state"])
# programme: by its name; answer: credited, pending, rejected, cancelled, not-known, other-facts, taken-back,
# not-taken-back, silence
ANSWERS: Final = Counter("abacus_exchange_answers", "What partners said of exchanges", ["programme", "answer"])
ASKING_SECONDS: Final = Histogram("abacus_exchange_partner_seconds", "How long a partner took to answer", ["programme"])
# programme: by its name; state: the open states of an exchange
OPEN: Final = Gauge("abacus_exchanges_open", "Exchanges that have not ended, by state", ["programme", "state"])
LATE: Final = Gauge("abacus_exchanges_late", "Exchanges that were sent, and are late", ["programme"])
# programme: by its name
SILENT: Final = Gauge("abacus_exchange_partner_silent", "1 while a partner does not answer", ["programme"])
# programme: by its name
LOW: Final = Gauge("abacus_exchange_prefund_low", "1 while less than its level is left at a partner", ["programme"])
# programme: by its name; kind: not-theirs, not-ours, amount and the other kinds of breaks
BREAKS: Final = Gauge("abacus_exchange_breaks_open", "Breaks that nobody has closed", ["programme", "kind"])
# programme: by its name
FILES_OLDEST: Final = Gauge(
    "abacus_exchange_files_oldest_seconds", "Age of the oldest file that a partner has not answered", ["programme"]
)


_NAMES: Final[dict[type[object], str]] = {
    Credited: "credited",
    Pending: "pending",
    Rejected: "rejected",
    Cancelled: "cancelled",
    NotKnown: "not-known",
    OtherFacts: "other-facts",
    TakenBack: "taken-back",
    NotTakenBack: "not-taken-back",
    Silence: "silence",
}


class Counting(Protocol):
    """Where it is counted what becomes of exchanges."""

    def turned(self, exchanges: Iterable[Exchange]) -> None:
        """They came to the states that they have."""
        ...

    def said(self, some: Iterable[tuple[str, Heard]]) -> None:
        """What partners said, with the names of their programmes."""
        ...

    def asked(self, programme: str, seconds: float) -> None:
        """How long the partner took to answer."""
        ...

    def silent(self, programme: str, *, is_silent: bool) -> None: ...


class _Metrics:
    """`Counting` in the metrics of the process."""

    def turned(self, exchanges: Iterable[Exchange]) -> None:
        for (programme, state), count in Tally((each.programme, each.state) for each in exchanges).items():
            EXCHANGES.labels(programme, state).inc(count)

    def said(self, some: Iterable[tuple[str, Heard]]) -> None:
        for labels, number in Tally((programme, _NAMES[type(heard)]) for programme, heard in some).items():
            ANSWERS.labels(*labels).inc(number)

    def asked(self, programme: str, seconds: float) -> None:
        ASKING_SECONDS.labels(programme).observe(seconds)

    def silent(self, programme: str, *, is_silent: bool) -> None:
        SILENT.labels(programme).set(is_silent)


class _Nowhere:
    """`Counting` that counts nothing."""

    def turned(self, exchanges: Iterable[Exchange]) -> None: ...

    def said(self, some: Iterable[tuple[str, Heard]]) -> None: ...

    def asked(self, programme: str, seconds: float) -> None: ...

    def silent(self, programme: str, *, is_silent: bool) -> None: ...


IN_METRICS: Final[Counting] = _Metrics()
NOWHERE: Final[Counting] = _Nowhere()
