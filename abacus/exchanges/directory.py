"""The programmes in force, as each process keeps them."""

from abacus.core.clock import Clock
from abacus.core.fields import EARLIEST
from abacus.documents.stated_directory import InUse, StatedDirectory
from abacus.engage.asking.kept_versions import BESIDE, Counters, KeptVersions, Services
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.platform.postgres import Pool
from abacus.signals.rules.decide.names import AnyName


class ProgrammeDirectory(StatedDirectory[Programme, Programmes]):
    """Serves the programmes in force. Every method raises `Unavailable` when they were never read."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._kept = KeptVersions(_around, InForce)
        super().__init__(pool, ProgrammeStore(pool), clock, self._put_in_force, *BESIDE, kept=lambda each: each)

    def around(self) -> ExchangePublications:
        """The counters and services that were published when the programmes were read."""
        self.value()
        return self._kept.around

    def _put_in_force(self, read: InUse[Programme]) -> Programmes:
        return Programmes(self._kept.put(read))


def _around(counters: Counters, services: Services) -> ExchangePublications:
    """Programmes were judged before: any segment is there."""
    return ExchangePublications(EARLIEST, segments=AnyName(), counters=counters, externals=services)
