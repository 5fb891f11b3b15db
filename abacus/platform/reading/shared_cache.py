"""The cache that processes share, if there is one. What it does not give is read from the store."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, Protocol

from abacus.core.errors import Refused
from abacus.platform.health import Health


class CachedValue(NamedTuple):
    """A value, and the second since 1970 from which on the cache has it no more."""

    value: str
    until: float


class SharedCache(Protocol):
    """A cache outside of the process. A cache that is away has nothing: no method raises `Unavailable`."""

    async def find(self, keys: Sequence[str]) -> Mapping[str, str]: ...

    async def keep(self, values: Mapping[str, CachedValue]) -> None: ...

    async def claim(self, key: str, *, for_s: float) -> bool:
        """Whether nobody has claimed it a moment ago. It may be claimed twice where the cache is away."""


class NothingShared:
    """In place of a cache: each process keeps what it has read for itself."""

    async def find(self, keys: Sequence[str]) -> Mapping[str, str]:  # noqa: ARG002  # it has none
        return {}

    async def keep(self, values: Mapping[str, CachedValue]) -> None:
        """Keeps nothing."""

    async def claim(self, key: str, *, for_s: float) -> bool:  # noqa: ARG002  # each process does what it needs
        return True


@asynccontextmanager
async def shared_cache(
    url: str | None, *, setting: str, prefix: str, health: Health | None
) -> AsyncIterator[SharedCache]:
    """The cache at this address, if there is one. Raises `Refused` where its client is not installed."""
    if url is None:
        yield NothingShared()
        return
    try:
        from abacus.platform.reading.redis_cache import opened  # noqa: PLC0415  # needs the extra `redis`
    except ModuleNotFoundError:
        raise Refused(f"{setting} is set, and the package redis is missing; install abacus[redis]") from None
    async with opened(url, prefix=prefix, health=health) as cache:
        yield cache
