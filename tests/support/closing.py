"""How a test's server is closed while clients still knock."""

import asyncio


async def close_to_new(server: asyncio.Server) -> None:
    """Accept no new connection. One that was accepted a moment ago is still handed over: else its socket stays open."""
    for listening in server.sockets:
        server.get_loop().remove_reader(listening.fileno())
    await asyncio.sleep(0)
    server.close()
