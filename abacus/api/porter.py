"""Who is let into an application that stands by itself, over a pool of its own: it has room while others are slow."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from abacus.api.auth import TEST, Access
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.requests.journal import RequestJournal
from abacus.intake.partners.sandbox import SandboxDirectory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.wiring import partner_directory, request_journal
from abacus.people.directory import PeopleDirectory
from abacus.people.wiring import people_directory
from abacus.platform.migrations import has_sandbox
from abacus.platform.patience import until_available
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES, Pool
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rooms import Rooms
from abacus.platform.sandbox import SESSION
from abacus.platform.wiring import Wiring

DATABASE_WITHIN_S: Final = 5.0
_CONNECTIONS: Final = 2
_OF_SANDBOX: Final = 2


class Porter(NamedTuple):
    """Knows partners and people. Their requests are counted `apart` from other applications' requests."""

    wiring: Wiring
    apart: str
    pool: Pool
    directory: Directory
    people: PeopleDirectory
    limiter: RateLimiter
    journal: RequestJournal

    def access(self, rooms: Rooms) -> Access:
        return Access(
            clock=self.wiring.clock,
            directory=self.directory,
            people=self.people,
            signing_secrets=SigningSecrets(self.wiring.secrets()),
            limiter=self.limiter,
            rooms=rooms,
        )

    async def with_sandbox(self, live: Access, rooms: Callable[[Pool], Rooms]) -> Access:
        """With what test keys ask, over a pool of the sandbox, where the house has one."""
        if not await until_available(partial(has_sandbox, self.pool), self.wiring.health):
            return live
        pool = await self.wiring.pool(
            size=_OF_SANDBOX,
            settings={**LOOKUPS_BY_VALUES, **SESSION},
            keeps_nothing=True,
            within_s=DATABASE_WITHIN_S,
        )
        sandbox = replace(
            live,
            directory=SandboxDirectory(partner_directory(self.wiring, pool), self.directory),
            limiter=self.wiring.limiter(pool, apart=self.apart),
            mode=TEST,
            rooms=rooms(pool),
        )
        return replace(live, sandbox=sandbox)


async def porter(wiring: Wiring, apart: str) -> Porter:
    pool = await wiring.pool(size=_CONNECTIONS, settings=LOOKUPS_BY_KEY, keeps_nothing=True, within_s=DATABASE_WITHIN_S)
    directory, people = partner_directory(wiring, pool), people_directory(wiring, pool)
    limiter = wiring.limiter(pool, apart=apart)
    return Porter(wiring, apart, pool, directory, people, limiter, request_journal(wiring, pool))
