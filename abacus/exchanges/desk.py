"""What people do with programmes: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Mapping

from abacus.core.clock import Clock
from abacus.documents.stated_desk import StatedDesk
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programme_reader import parse_programme
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.publications import exchange_publications
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool


class ProgrammeDesk(StatedDesk[Programme, ExchangePublications]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done.
    `to_private`: whether partners may have addresses within.
    """

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals, *, to_private: bool) -> None:
        super().__init__(pool, clock, ProgrammeStore(pool), approvals, lambda _: self.around())
        self._to_private = to_private

    async def around(self) -> ExchangePublications:
        """What is published, by which drafts are judged."""
        return await exchange_publications(self._pool, self.now(), to_private=self._to_private)

    async def read(self, document: Mapping[str, object], around: ExchangePublications | None = None) -> Programme:
        """The draft of a document, judged by what is published. Raises `ProgrammeFaults`."""
        return parse_programme(document, around or await self.around())
