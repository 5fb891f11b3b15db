"""The desk of links for a command: the programmes in force, and lines to their partners."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import secrets, settings
from abacus.engage.notify.notices import Notices
from abacus.exchanges.carriers.http import HttpPartner
from abacus.exchanges.carriers.line import Line
from abacus.exchanges.decide.programme import ByHttp, Programme
from abacus.exchanges.directory import ProgrammeDirectory
from abacus.exchanges.link_desk import LinkDesk
from abacus.exchanges.link_store import LinkStore
from abacus.exchanges.types import PartnerPort
from abacus.intake.partners.webhooks.secrets import WebhookSecrets
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.platform.reading.breaker import Breaker


@asynccontextmanager
async def linking(at: CommandActor) -> AsyncIterator[LinkDesk]:
    """Raises `Unavailable`."""
    directory, of = ProgrammeDirectory(at.pool, at.clock), WebhookSecrets(WebhookStore(at.pool, at.clock, secrets()))
    await directory.refresh()
    async with AsyncExitStack() as lines:

        def port(programme: Programme) -> PartnerPort:
            if not isinstance(programme.carrier, ByHttp):
                raise TypeError(f"{programme.name} is reached by files")
            line = Line(programme.carrier.url, to_private=settings().webhooks_to_private, at_once=1)
            lines.push_async_callback(line.close)

            async def signed_by() -> Sequence[str]:
                return await of.of(programme.partner)

            return HttpPartner(programme.partner, line, signed_by, at.clock, Breaker(programme.partner))

        yield LinkDesk(LinkStore(at.pool, secrets()), at.clock, directory.value, port, Notices(at.pool, at.clock))
