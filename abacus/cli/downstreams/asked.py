"""The services that a trial asks, as they are published now."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from abacus.cli.downstreams.family import downstream_desk
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import secrets, settings
from abacus.engage.downstreams.decide.question import LONGEST_ANSWER
from abacus.engage.downstreams.services import CALLS_AT_ONCE, Services
from abacus.platform.delivery.post import Poster


@asynccontextmanager
async def services(at: CommandActor) -> AsyncIterator[Services]:
    """Raises `Unavailable`."""
    signed = await downstream_desk(at).signed()
    poster = Poster(to_private=settings().webhooks_to_private, at_once=CALLS_AT_ONCE, whole_up_to=LONGEST_ANSWER)
    try:
        yield Services(lambda: signed, poster, at.pool, at.clock, secrets())
    finally:
        await poster.close()
