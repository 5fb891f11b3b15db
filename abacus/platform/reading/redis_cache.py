"""A shared cache in a Redis or a Valkey. This file alone needs the package `redis`, which the extra `redis` brings."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from redis.asyncio import Redis
from redis.exceptions import RedisError

from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.platform.reading.breaker import Breaker
from abacus.platform.reading.shared_cache import CachedValue

SHARED: Final = "shared cache"

Result = TypeVar("Result")


@asynccontextmanager
async def opened(
    url: str, *, prefix: str, within_s: float = 0.1, health: Health | None = None
) -> AsyncIterator["RedisCache"]:
    """The cache at this address; it is not asked yet."""
    redis = Redis.from_url(url, socket_connect_timeout=within_s, socket_timeout=within_s, retry=None)
    try:
        yield RedisCache(redis, prefix, within_s, health)
    finally:
        await redis.aclose()


class RedisCache:
    """`SharedCache`: Redis forgets each key when its time is over. A Redis that is slow or away is done without, and
    asked again after a moment.
    """

    def __init__(self, redis: Redis, prefix: str, within_s: float, health: Health | None) -> None:
        self._redis = redis
        self._prefix = prefix
        self._within_s = within_s
        self._breaker = Breaker(SHARED, health=health)

    async def find(self, keys: Sequence[str]) -> Mapping[str, str]:
        async def read() -> Sequence[bytes | None]:
            values: Any = await self._redis.mget([self._prefix + key for key in keys])
            return values  # type: ignore[no-any-return]  # redis types its answers for both of its clients at once

        try:
            values = await self._asked(read)
        except Unavailable:
            return {}
        return {key: value.decode() for key, value in zip(keys, values, strict=True) if value is not None}

    async def keep(self, values: Mapping[str, CachedValue]) -> None:
        async def write() -> None:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for key, (value, until) in values.items():
                    pipeline.set(self._prefix + key, value, exat=int(until))
                await pipeline.execute()

        with suppress(Unavailable):
            await self._asked(write)

    async def claim(self, key: str, *, for_s: float) -> bool:
        async def write() -> bool:
            return bool(await self._redis.set(self._prefix + key, b"", nx=True, px=round(for_s * 1000)))

        try:
            return await self._asked(write)
        except Unavailable:
            return True

    async def _asked(self, action: Callable[[], Awaitable[Result]]) -> Result:
        async def named() -> Result:
            try:
                return await action()
            except (RedisError, OSError) as error:
                raise Unavailable(SHARED, str(error)) from error

        return await self._breaker.call(named, within_s=self._within_s)
