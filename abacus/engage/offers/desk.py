"""What people do with offers: the caller checks each deed, the desk does it and writes it into the log."""

from abacus.core.clock import Clock
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.offers.publications import offer_publications
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool


class OfferDesk(StatedDesk[Offer, OfferPublications]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals) -> None:
        super().__init__(pool, clock, OfferStore(pool), approvals, lambda _: self.around())

    async def around(self) -> OfferPublications:
        """What is published, by which drafts are judged."""
        return await offer_publications(self._pool, self.now())
