"""A partner brings points in for an account. The link of the account names the member."""

from collections.abc import Awaitable
from typing import Protocol

from abacus.core.clock import Clock
from abacus.engage.asking.standings import Standings, standings_of
from abacus.exchanges.decide.inbound import Against, Refusal, Taker
from abacus.exchanges.decide.link import LinkRefused, check_usable
from abacus.exchanges.link_desk import LinkDesk
from abacus.intake.partners.members import MemberReader


class Misfit(Protocol):
    """Why nothing may come in for a member by a programme's rule."""

    def __call__(self, programme: str, member_id: str, standings: Standings) -> Awaitable[str | None]: ...


class LinkedTakers:
    """`Takers` by links."""

    def __init__(self, links: LinkDesk, misfit: Misfit, members: MemberReader, clock: Clock) -> None:
        self._links = links
        self._misfit = misfit
        self._members = members
        self._clock = clock

    async def taker_of(self, programme: str, account: str) -> Taker | Against | None:
        link = await self._links.of_number(programme, account)
        if link is None:
            return None
        try:
            check_usable(link, programme, self._clock.now())
        except LinkRefused as fault:
            return Against(Refusal.NOT_ELIGIBLE, str(fault))
        return await self.fitting(programme, Taker(link.link_id, link.member_id))

    async def fitting(self, programme: str, taker: Taker) -> Taker | Against:
        """The taker, where the programme's rule lets points come in for it."""
        now = self._clock.now()
        accounts = [each.at(now) for each in await self._members.holdings(taker.member_id)]
        everywhere = standings_of(accounts, is_open=lambda _: True)
        why = await self._misfit(programme, taker.member_id, everywhere)
        return taker if why is None else Against(Refusal.NOT_ELIGIBLE, why)

    async def facts_of(self, partner: str, account: str, theirs: int) -> str:
        return (await self._links.digest_of(partner, f"{account}\n{theirs}")).hex()
