"""Which of some keys are taken, at a cost that does not grow with the generations of a ledger.

In each generation that was closed a filter tells which of the keys may be there; mostly it is none. Generations whose
filter this process has not read yet, and the one that takes rows, are looked into by their index.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Final

from abacus.ledger.decide.key_filter import KeyFilter, looked
from abacus.ledger.store.turns import Turn
from abacus.ledger.types.port import Claim
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, array, column, columns

_AGAIN_S: Final = 5.0  # between two looks whether a generation was closed

_CLOSED: Final = Statement("""
select number from generation where number = any(:numbers::integer[]) and closed_at is not null order by number limit 1
""")
_FILTER: Final = Statement("select bits from key_filter where generation = :generation order by part")

# The generation of each key is known when the statement runs: others are not looked into.
_IN_GENERATIONS: Final = Statement(f"""
select {columns(Claim, "c")} from unnest(:keys::text[], :generations::integer[]) as u (key, generation)
join claim c on c.generation = u.generation and c.key = u.key
""")


@cache
def _among(generations: Sequence[int]) -> Statement:
    return Statement(
        " union all ".join(
            f"select {columns(Claim)} from claim_{number} where key = any({array('keys', 'text')})"
            for number in generations
        )
    )


class ClaimedKeys:
    """One for each process and ledger."""

    def __init__(self) -> None:
        self._filters: dict[str | None, dict[int, KeyFilter]] = {}  # by the schema of the slice
        self._looked_at: dict[str | None, float] = {}

    async def among(self, connection: Connection, turn: Turn, keys: Iterable[str]) -> dict[str, Claim]:
        """The claims of the keys; a free key has none."""
        wanted = list(keys)
        filters = self._filters.setdefault(connection.slice_schema, {})
        unknown = tuple(number for number in range(1, turn.generation + 1) if number not in filters)
        rows = await connection.fetch(*_among(unknown)(keys=column(wanted)))
        if filters and wanted:
            rows += await _filtered(connection, filters, wanted)
        if len(unknown) > 1:
            await self._learn(connection, filters, unknown[:-1])
        return {row[0]: Claim(*row) for row in rows}

    async def _learn(self, connection: Connection, filters: dict[int, KeyFilter], unknown: Collection[int]) -> None:
        """Read one more filter, if there is one: reading all would keep others waiting for the transaction."""
        now, schema = time.monotonic(), connection.slice_schema
        if now < self._looked_at.get(schema, -_AGAIN_S) + _AGAIN_S:
            return
        closed = await connection.fetchval(*_CLOSED(numbers=list(unknown)))
        if closed is None:
            self._looked_at[schema] = now
            return
        parts = [row["bits"] for row in await connection.fetch(*_FILTER(generation=closed))]
        filters[closed] = KeyFilter.of(parts)


async def _filtered(
    connection: Connection, filters: Mapping[int, KeyFilter], wanted: Sequence[str]
) -> Sequence[Sequence[object]]:
    sought = looked(wanted)
    keys: list[str] = []
    generations: list[int] = []
    for number, key_filter in filters.items():
        for place in key_filter.may_have(sought).nonzero()[0].tolist():
            keys.append(wanted[place])
            generations.append(number)
    if not keys:
        return []
    found: Sequence[Sequence[object]] = await connection.fetch(*_IN_GENERATIONS(keys=keys, generations=generations))
    return found
