"""Services that a command asks as campaigns do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from abacus.cli.terminal.shell import secrets, settings
from abacus.core.clock import SystemClock
from abacus.engage.downstreams.decide.question import LONGEST_ANSWER
from abacus.engage.downstreams.services import CALLS_AT_ONCE, Services
from abacus.engage.downstreams.store import DownstreamStore
from abacus.platform.delivery.post import Poster
from abacus.platform.postgres import Pool


@asynccontextmanager
async def services(connections: Pool) -> AsyncIterator[Services]:
    """As they are published now. Raises `Unavailable`."""
    clock = SystemClock()
    signed = {each.downstream.name: each for each in await DownstreamStore(connections).signed(clock.now())}
    poster = Poster(to_private=settings().webhooks_to_private, at_once=CALLS_AT_ONCE, whole_up_to=LONGEST_ANSWER)
    try:
        yield Services(lambda: signed, poster, connections, clock, secrets())
    finally:
        await poster.close()
