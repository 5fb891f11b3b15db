"""The programmes in force, as each process keeps them."""

from abacus.core.clock import Clock
from abacus.core.fields import EARLIEST
from abacus.documents.stated_directory import InUse, StatedDirectory
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.platform.postgres import Pool
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.rules.decide.names import AnyName


class ProgrammeDirectory(StatedDirectory[Programme, Programmes]):
    """Serves the programmes in force. Every method raises `Unavailable` when they were never read."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._programmes = Programmes(())
        self._around = ExchangePublications(EARLIEST, segments=AnyName())  # programmes were judged before
        store = ProgrammeStore(pool)
        super().__init__(
            pool, store, clock, self._put_in_force, COUNTERS, DOWNSTREAMS, kept=lambda programme: programme
        )

    def around(self) -> ExchangePublications:
        """The counters and services that were published when the programmes were read."""
        self.value()
        return self._around

    def _put_in_force(self, read: InUse[Programme]) -> Programmes:
        counters = {each.name: each for each in read.beside.of(COUNTERS)}
        services = {each.name: each.service.answers for each in read.beside.of(DOWNSTREAMS) if each.service}
        if (self._around.counters, self._around.externals) != (counters, services):
            self._around = ExchangePublications(EARLIEST, segments=AnyName(), counters=counters, externals=services)
            self._programmes = Programmes(())
        before = {each.programme.label: each for each in self._programmes.by_name.values()}
        self._programmes = Programmes(before.get(each.label) or InForce(each, self._around) for each in read.versions)
        return self._programmes
