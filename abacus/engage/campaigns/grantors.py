"""Which campaigns in force grant an offer or a reward, for people who change it. Nothing is forbidden to them."""

from datetime import datetime
from typing import Any, Final

from abacus.documents.decide.states import Status
from abacus.documents.stated_desk import StatedDesk
from abacus.engage.actions.decide.deeds import Grant
from abacus.engage.campaigns.decide.granting import GrantedBy, granted_as, refusal_of
from abacus.engage.campaigns.uses import campaign_uses
from abacus.platform.postgres import Pool

_IN_FORCE: Final = {Status.APPROVED, Status.PAUSED}


class Grantors:
    """One for each process. Its methods take versions of offers and of rewards, and raise `Unavailable`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def beside(self, draft: object, now: datetime) -> GrantedBy:
        """Once the draft takes the place of the version that is in force."""
        return GrantedBy(await self._campaigns(granted_as(draft), now), refusal_of(draft))

    async def standing(self, of: object, desk: StatedDesk[Any, Any]) -> GrantedBy:
        """By the version that is in force, if there is one."""
        grant, now = granted_as(of), desk.now()
        for each in await desk.history(grant.name):
            if each.in_force and each.document.ends_at > now:
                return await self.beside(each.document, now)
        return GrantedBy(await self._campaigns(grant, now), f"no version of {grant.name} is in force")

    async def _campaigns(self, grant: Grant, now: datetime) -> list[str]:
        uses = await campaign_uses(self._pool, now, grant.what.value, grant.name)
        return [f"{each.name}@{each.version}" for each in uses if each.status in _IN_FORCE]
