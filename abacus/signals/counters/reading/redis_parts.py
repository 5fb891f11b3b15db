"""Closed parts in a Redis or a Valkey. This file alone needs the package `redis`, which the extra `redis` brings."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from redis.asyncio import Redis
from redis.exceptions import RedisError

from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.signals.counters.reading.breaker import Breaker
from abacus.signals.counters.reading.closed_parts import Kept
from abacus.signals.counters.types import SlotRange

SHARED: Final = "shared cache"

Result = TypeVar("Result")


@asynccontextmanager
async def opened(
    url: str, *, prefix: str, within_s: float = 0.1, health: Health | None = None
) -> AsyncIterator["RedisParts"]:
    """The cache at this address; it is not asked yet."""
    redis = Redis.from_url(url, socket_connect_timeout=within_s, socket_timeout=within_s, retry=None)
    try:
        yield RedisParts(redis, prefix, within_s, health)
    finally:
        await redis.aclose()


class RedisParts:
    """`SharedParts`: a key for each part, which Redis forgets when its time is over. A Redis that is slow or away is
    done without, and asked again after a moment.
    """

    def __init__(self, redis: Redis, prefix: str, within_s: float, health: Health | None) -> None:
        self._redis = redis
        self._prefix = prefix
        self._breaker = Breaker(SHARED, within_s=within_s, health=health)

    async def find(self, parts: Sequence[SlotRange]) -> Mapping[SlotRange, Kept]:
        async def read() -> Sequence[bytes | None]:
            values: Any = await self._redis.mget([self._key(part) for part in parts])
            return values  # type: ignore[no-any-return]  # redis types its answers for both of its clients at once

        try:
            values = await self._asked(read)
        except Unavailable:
            return {}
        return {part: _kept(value) for part, value in zip(parts, values, strict=True) if value is not None}

    async def keep(self, kept: Mapping[SlotRange, Kept]) -> None:
        async def write() -> None:
            async with self._redis.pipeline(transaction=False) as pipeline:
                for part, (sum_, until) in kept.items():
                    pipeline.set(self._key(part), f"{sum_} {until:.0f}", exat=int(until))
                await pipeline.execute()

        with suppress(Unavailable):
            await self._asked(write)

    async def _asked(self, action: Callable[[], Awaitable[Result]]) -> Result:
        async def named() -> Result:
            try:
                return await action()
            except (RedisError, OSError) as error:
                raise Unavailable(SHARED, str(error)) from error

        return await self._breaker.call(named)

    def _key(self, part: SlotRange) -> str:
        return f"{self._prefix}part:{part.first}:{part.end}:{part.key}"


def _kept(value: bytes) -> Kept:
    sum_, until = value.split()
    return Kept(int(sum_), float(until))
