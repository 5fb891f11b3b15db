"""The cache of closed parts that processes share, if there is one. What it does not give is read from the store."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from abacus.engage.counters.reading.closed_parts import Kept
from abacus.engage.counters.types import SlotRange


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
