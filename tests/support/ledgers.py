"""A ledger in a database of its own, on all servers under test."""

from abacus.platform.cluster.placement import placement_at
from abacus.platform.migrations import cut, migrate
from tests.support.cluster import Servers
from tests.support.slices import SLICES


async def make_ledger(servers: Servers, name: str, *, slices: int = SLICES) -> str:
    """The address of a new database of that name: migrated, and cut into slices that lie on all servers."""
    address = servers.address_of(name)
    await servers.create(name)
    await migrate(address)
    await cut(address, slices)
    if servers.are_several and slices > 1:
        async with placement_at(address) as spread:
            await spread.place()
    return address
