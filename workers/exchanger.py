"""Carries exchanges with partners on: asks partners, moves the points, writes files, and keeps the books."""

from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Final

from abacus.bootstrap import Service
from abacus.core.clock import Clock
from abacus.exchanges.settler import MovesBeside
from abacus.exchanges.wiring import exchanger
from abacus.ledger.store.counted_moves import CountedMovesBeside
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.read import LedgerReader
from abacus.platform.postgres import Pool

NEEDS: Final = frozenset({Service.DATABASE, Service.SQS})


def _moves_of(pool: Pool, clock: Clock) -> MovesBeside:
    return CountedMovesBeside(PostgresMoves(pool, clock))


def _posted_of(pool: Pool) -> Callable[[Collection[str]], Awaitable[Collection[str]]]:
    reader = LedgerReader(pool)

    async def posted(keys: Collection[str]) -> Collection[str]:
        return (await reader.claims_of(keys)).keys()

    return posted


wire = partial(exchanger, moves_of=_moves_of, posted_of=_posted_of)
