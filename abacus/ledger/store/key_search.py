"""Finding rows by their keys: each slice is asked for its own, side by side.

In a ledger that is cut, a register says in which slice a key lies. Keys that name their member have no entry there, and
are looked for in each slice.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from abacus.core.ids import OF_THEIR_MEMBER
from abacus.ledger.types.port import Claim
from abacus.platform.key_register import holders_of
from abacus.platform.postgres import Pool
from abacus.platform.slices import fetched_by, in_one_place, in_slices, slices_of
from abacus.platform.sql import Statement, columns

_CLAIMS: Final = Statement(f"select {columns(Claim)} from claim where key = any(:keys::text[])")


async def parts_of(pool: Pool, keys: Iterable[str]) -> dict[int, list[str]]:
    """The keys that each slice may have something under. Raises `Unavailable`."""
    keys = list(keys)
    if await in_one_place(pool):
        return {0: keys}
    anywhere = [key for key in keys if key.startswith(OF_THEIR_MEMBER)]
    entered = [key for key in keys if not key.startswith(OF_THEIR_MEMBER)]
    parts = {number: anywhere.copy() for number in range(len(await slices_of(pool)))} if anywhere else {}
    for key, number in (await holders_of(pool, entered) if entered else {}).items():
        parts.setdefault(number, []).append(key)
    return parts


async def claims_in(pool: Pool, parts: Mapping[int, list[str]]) -> dict[str, Claim]:
    """The claims of keys by the slice in which they may lie; a free key has none. Raises `Unavailable`."""
    return _by_key((await in_slices(pool, parts, fetched_by(_claims), patience_s=None)).whole())


async def claims_of(pool: Pool, keys: Iterable[str]) -> dict[str, Claim]:
    """The claims of the keys; a free key has none. Raises `Unavailable`."""
    return await claims_in(pool, await parts_of(pool, keys))


async def claims_in_reach(pool: Pool, keys: Iterable[str]) -> dict[str, Claim]:
    """The same, without slices whose servers cannot be reached. Raises `Unavailable` when no server can."""
    return _by_key((await in_slices(pool, await parts_of(pool, keys), fetched_by(_claims), reads=True)).in_reach())


def _claims(keys: Sequence[str]) -> tuple[Any, ...]:
    return _CLAIMS(keys=keys)


def _by_key(rows: Iterable[Sequence[Any]]) -> dict[str, Claim]:
    return {row["key"]: Claim(*row) for row in chain.from_iterable(rows)}
