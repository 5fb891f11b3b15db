"""What people do with offers: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Iterable, Sequence

from abacus.core.clock import Clock
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.offers.decide.invited import Invited, Inviting, check_invites
from abacus.engage.offers.decide.offer import Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.invitations import InvitationStore
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.offers.publications import offer_publications
from abacus.people.store.approvals import Approvals
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool, passing_failures


class OfferDesk(StatedDesk[Offer, OfferPublications]):
    """Every method raises `Unavailable` while the database is away, and `Refused` for what cannot be done."""

    def __init__(self, pool: Pool, clock: Clock, approvals: Approvals) -> None:
        self._invitations = InvitationStore(pool)
        super().__init__(pool, clock, OfferStore(pool), approvals, lambda _: self.around())

    async def invite(
        self, name: str, how: Inviting, batches: Iterable[Sequence[str]], by: Actor, *, file: str | None = None
    ) -> Invited:
        """Invites members to an offer, or takes invitations back. The log has it before the first batch; what was cut
        off is done when it is done again.
        """
        offer = (await self.version(name)).document
        check_invites(offer)
        did = "uninvite" if how is Inviting.REMOVE else "invite"
        logged = self.logged(offer.name, offer.country, by, did=did, how=how.value, file=file)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await logged(connection)
        added, removed, kept = 0, 0, set[str]()
        for batch in batches:
            if how is Inviting.REMOVE:
                removed += await self._invitations.remove(offer.number, batch)
            else:
                added += await self._invitations.add(offer.number, batch)
            if how is Inviting.REPLACE:
                kept.update(batch)
        if how is Inviting.REPLACE:
            removed = await self._invitations.remove_others(offer.number, kept)
        return Invited(added, removed)

    async def invited(self, offer: Offer) -> int:
        """How many members are invited to an offer."""
        return await self._invitations.count(offer.number)

    async def around(self) -> OfferPublications:
        """What is published, by which drafts are judged."""
        return await offer_publications(self._pool, self.now())
