"""A database of a measurement's own, in as many slices as it is to compare."""

from contextlib import AsyncExitStack

from abacus.platform.cluster.placement import placement_at
from abacus.platform.migrations import cut, migrate
from tests.support.cluster import Servers


async def sliced_database(stack: AsyncExitStack, servers: Servers, name: str, slices: int) -> str:
    """The address of an empty ledger; on several servers, its slices are spread over them. Dropped with the stack."""
    await servers.drop(name)
    await servers.create(name)
    stack.push_async_callback(servers.drop, name)
    url = servers.address_of(name)
    await migrate(url)
    await cut(url, slices)
    if servers.are_several:
        async with placement_at(url) as spread:
            await spread.place()
    return url
