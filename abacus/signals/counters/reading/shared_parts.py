"""The cache of closed parts that processes share, if there is one. What it does not give is read from the store."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from abacus.core.errors import Refused
from abacus.platform.health import Health
from abacus.signals.counters.reading.closed_parts import Kept
from abacus.signals.counters.types import SlotRange


class SharedParts(Protocol):
    """A cache outside of the process. A cache that is away has nothing: neither method raises `Unavailable`."""

    async def find(self, parts: Sequence[SlotRange]) -> Mapping[SlotRange, Kept]: ...

    async def keep(self, kept: Mapping[SlotRange, Kept]) -> None: ...


class NothingShared:
    """In place of a cache: each process keeps parts for itself."""

    async def find(self, parts: Sequence[SlotRange]) -> Mapping[SlotRange, Kept]:  # noqa: ARG002  # it has none
        return {}

    async def keep(self, kept: Mapping[SlotRange, Kept]) -> None:
        """Keeps nothing."""


@asynccontextmanager
async def shared_parts(url: str | None, *, prefix: str, health: Health | None) -> AsyncIterator[SharedParts]:
    """The cache at this address, if there is one. Raises `Refused` where its client is not installed."""
    if url is None:
        yield NothingShared()
        return
    try:
        from abacus.signals.counters.reading.redis_parts import opened  # noqa: PLC0415  # needs the extra `redis`
    except ModuleNotFoundError:
        raise Refused(
            "ABACUS_COUNTS_REDIS_URL is set, and the package redis is missing; install abacus[redis]"
        ) from None
    async with opened(url, prefix=prefix, health=health) as parts:
        yield parts
