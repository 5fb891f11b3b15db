"""What people do with offers: the caller checks each deed, the desk does it and writes it into the log."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from abacus.core.clock import Clock
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.limits.decide.pots import EVER
from abacus.engage.limits.pot_rows import used
from abacus.engage.limits.types import Amounts
from abacus.engage.offers.decide.invited import Invited, Inviting, check_invites
from abacus.engage.offers.decide.offer import OWNER_KIND, Offer
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.decide.report import By, OfferLine, lines_of
from abacus.engage.offers.decide.taken import Taken, taken_of
from abacus.engage.offers.invitations import InvitationStore
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.offers.publications import offer_publications
from abacus.engage.offers.report import counted, terms_of
from abacus.engage.offers.sums import came_of
from abacus.people.store.approvals import Approvals
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool, passing_failures, snapshot


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

    async def used(self, days: Mapping[str, str]) -> Mapping[str, Mapping[str, Amounts]]:
        """What was taken of the limits of these offers, by name and period: over all time, and on the day that is
        named for each.
        """
        found: dict[str, dict[str, Amounts]] = {}
        async with snapshot(self._pool) as connection:
            pots = await used(connection, OWNER_KIND, [*days], sorted({EVER, *days.values()}))
        for pot, amounts in pots.items():
            found.setdefault(pot.owner, {})[pot.period] = amounts
        return found

    async def taken(self, name: str, today: str) -> tuple[Taken, Taken]:
        """What was taken of an offer by all its versions: over all time, and of what was reserved on this day."""
        async with snapshot(self._pool) as connection:
            ever, of_day = await came_of(connection, name, date.fromisoformat(today))
        return taken_of(ever), taken_of(of_day)

    async def by_day(self, name: str) -> Sequence[OfferLine]:
        """What came of an offer, by day, over its whole life."""
        async with snapshot(self._pool) as connection:
            found = await counted(connection, date.min, date.max, name)
            terms = await terms_of(connection, [(name, each.version) for each in found])
        return lines_of(found, terms, By.DAY)

    async def around(self) -> OfferPublications:
        """What is published, by which drafts are judged."""
        return await offer_publications(self._pool, self.now())
