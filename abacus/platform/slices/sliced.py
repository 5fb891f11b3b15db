"""One slice after the other, for followers and senders that take from each what they have room for."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices.parts import rows_in_reach as all_rows_in_reach
from abacus.platform.slices.reach import at as at_member
from abacus.platform.slices.reach import each as in_each_slice
from abacus.platform.slices.reach import slice_at, slicing_of, some_are_away, unless_away
from abacus.platform.slices.reach import together as on_all_slices

__all__ = [
    "all_rows_in_reach",
    "at_member",
    "at_slice",
    "in_each_slice",
    "on_all_slices",
    "slicing_of",
    "some_are_away",
    "unless_away",
]


@asynccontextmanager
async def at_slice(pool: Pool, number: int) -> AsyncIterator[Connection]:
    """A connection to the server of that slice."""
    async with (await slice_at(pool, number)).at() as connection:
        yield connection


async def rows_in_reach(
    pool: Pool, _parts: Mapping[int, Any], statement: Callable[[Any], tuple[Any, ...]]
) -> list[Any]:
    """The rows of the slices whose servers can be reached."""
    return await all_rows_in_reach(pool, statement(None))
