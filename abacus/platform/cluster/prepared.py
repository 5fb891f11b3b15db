"""Transactions that are prepared on a server, and neither committed nor rolled back: what they hold, nobody else has.

What is written on several servers is prepared on each before it is committed. That takes a moment. A transaction that
stays prepared is one whose other servers went away just then.
"""

import asyncio
from contextlib import suppress
from typing import Final

from abacus.core.errors import Unavailable
from abacus.platform.metrics import PREPARED_OLDEST
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.slices import slices_of

_LOOK_EVERY_S: Final = 15.0
_WITHIN_S: Final = 5.0
_OLDEST: Final = """
select coalesce(extract(epoch from clock_timestamp() - min(prepared)), 0)::int from pg_prepared_xacts
where database = current_database()
"""


async def keep_looking(pool: Pool) -> None:
    """Until cancelled: how long the oldest has been prepared, on each server. A whole ledger prepares nothing."""
    while True:
        with suppress(Unavailable):  # the coordinator is away, and so is everything
            if len(await slices_of(pool)) == 1:
                return
            await look(pool)
        await asyncio.sleep(_LOOK_EVERY_S)


async def look(pool: Pool) -> None:
    """A server that is away keeps what it said last. Raises `Unavailable` when the coordinator is away."""
    servers = {pool, *[await each.server() for each in await slices_of(pool)]}
    await asyncio.gather(*map(_look_at, servers))


async def _look_at(server: Pool) -> None:
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(_WITHIN_S), passing_failures():
            PREPARED_OLDEST.labels(server.server).set(await server.fetchval(_OLDEST))
