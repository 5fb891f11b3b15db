"""Downstreams that a test publishes."""

from datetime import datetime

from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.kind import Allowed
from abacus.engage.downstreams.store import DownstreamStore
from abacus.platform.postgres import Connection, Pool


async def publish_downstream(pool: Pool, draft: Downstream, secret: str, now: datetime) -> None:
    """With this secret, if it has none yet."""
    store = DownstreamStore(pool)

    async def give(connection: Connection) -> None:
        await store.give_secret(connection, draft, secret)

    await store.publish([draft], Allowed(to_private=True).look, by="tests", now=now, also=give)
