"""A cache in a Redis that does not answer is done without."""

import asyncio
import time

from abacus.platform.reading.redis_cache import opened
from abacus.platform.reading.shared_cache import CachedValue
from tests.support.ports import free_port


async def test_a_redis_that_is_not_there_has_nothing() -> None:
    async with opened(f"redis://127.0.0.1:{free_port()}/0", prefix="a-") as cache:
        await cache.keep({"a": CachedValue("1", time.time() + 60)})
        assert await cache.find(["a"]) == {}


async def test_a_silent_redis_is_not_waited_for() -> None:
    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    gone = asyncio.Event()
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with opened(f"redis://127.0.0.1:{port}/0", prefix="a-", within_s=0.05) as cache:
        began = time.monotonic()
        for _ in range(100):
            assert await cache.find(["a"]) == {}
        assert time.monotonic() - began < 3  # after a few, nobody asks for a while
    gone.set()
    server.close()
    await server.wait_closed()
