"""Posting to the ledger with a million accounts present, against a bare COPY of the same rows.

As in production: several awarders, each a process with a few connections. Postgres and all of them share the machine.
"""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Final

import uvloop

from abacus.core.clock import SystemClock
from abacus.ledger.decide import transfer
from abacus.ledger.decide.chain import chain
from abacus.ledger.store import rows
from abacus.ledger.store.claimed_keys import ClaimedKeys
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.transfer import Transfer
from abacus.platform.migrations import migrate
from benchmarks.posting_rounds import (
    AWARDERS,
    AWARDS,
    BATCH,
    CONNECTIONS,
    MEMBERS,
    Part,
    awards_of,
    batches_of,
    ledger_pool,
    processes,
    seconds_of,
    timed,
)
from benchmarks.report import Figure, rate
from benchmarks.services import postgres_alone

WARM_UP: Final = 5  # rounds
ROUNDS: Final = 8
FAR: Final = 1_000_000
WANTED: Final = 18_000
WANTED_RATIO: Final = 0.28
CHAIN: Final = "the chain of hashes"
LOTS: Final = "what accounts know of their lots"
MOST_COST: Final = 0.25
LARGE_BATCH: Final = 500  # about what ten messages hold

_known: dict[str, ClaimedKeys] = {}  # of this process' ledgers, as awarders have them
_NO_CHAIN: Final = bytes(32)
_LOTS: Final = ", a.lots_closed, a.lots_drawn, a.lapsed_seq, a.lifetime"
_POSTED: Final = f"select {', '.join(Transfer._fields)} from transfer where seq < $1 order by xid desc limit $2"


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with postgres_alone(directory) as url:
        await migrate(url)
        async with ledger_pool(url, 1, owner=True) as owner:
            await owner.execute(MEMBERS, accounts, timeout=600)
            await owner.execute("vacuum analyze account", timeout=600)
            await owner.execute("checkpoint", timeout=600)
        with processes(AWARDERS) as awarders, processes(1) as alone:
            return await asyncio.to_thread(_measure, url, accounts, awarders, alone)


def _measure(url: str, accounts: int, awarders: Executor, alone: Executor) -> list[Figure]:
    """Posting and COPY take turns, so that the machine's load affects both alike."""

    def parts(round_: int) -> list[Part]:
        return [Part(url, accounts, round_, number, AWARDERS, CONNECTIONS) for number in range(AWARDERS)]

    for warming in range(WARM_UP):  # the first change of a page after a checkpoint is slow, so it is not timed
        seconds_of(awarders, post, parts(warming))
    posting = duplicates = copying = copying_alone = unchained = without_lots = large = 0.0
    for round_ in range(WARM_UP, WARM_UP + ROUNDS):
        posting += seconds_of(awarders, post, parts(round_))
        copying += seconds_of(awarders, _copy, parts(round_))
        copying_alone += seconds_of(alone, _copy, [Part(url, accounts, round_, 0, 1, 1, copied=1)])
        duplicates += seconds_of(awarders, post, parts(round_))
        unchained += seconds_of(awarders, post, [part._replace(without=CHAIN) for part in parts(round_ + 1000)])
        without_lots += seconds_of(awarders, post, [part._replace(without=LOTS) for part in parts(round_ + 2000)])
        large += seconds_of(awarders, post, [part._replace(batch=LARGE_BATCH) for part in parts(round_ + 3000)])
    ratio = copying / posting  # like with like: as many processes, connections and rows a transaction
    many = f"{AWARDERS} x {CONNECTIONS} connections"
    return [
        Figure(
            f"ledger posting, new awards, {accounts:,} accounts, {BATCH} a transaction, {many}",
            rate(ROUNDS * AWARDS / posting, "awards"),
            f"{ratio:.2f} of the bare COPY by as many",
            f">= {WANTED:,}/s and >= {WANTED_RATIO}",
            ROUNDS * AWARDS / posting >= WANTED and ratio >= WANTED_RATIO,
        ),
        *(
            Figure(
                f"bare COPY of the same rows into the same indexed table, {BATCH} a transaction, {connections}",
                rate(ROUNDS * AWARDS / seconds, "rows"),
                f"posting is {seconds / posting:.2f} of it",
            )
            for connections, seconds in (("1 connection", copying_alone), (many, copying))
        ),
        *(
            Figure(
                f"posting without {what}",
                rate(ROUNDS * AWARDS / seconds, "awards"),
                f"so {what} costs {1 - seconds / posting:.0%}",
                "<= 25 % for both",
                2 - (unchained + without_lots) / posting <= MOST_COST,
            )
            for what, seconds in ((CHAIN, unchained), (LOTS, without_lots))
        ),
        Figure(
            f"posting by {LARGE_BATCH} a transaction",
            rate(ROUNDS * AWARDS / large, "awards"),
            f"{posting / large:.2f} of that by {BATCH}",
        ),
        Figure(
            "posting the same awards again (all duplicates)",
            rate(ROUNDS * AWARDS / duplicates, "awards"),
            f"{posting / duplicates:.1f} of new",
        ),
    ]


def post(part: Part) -> tuple[float, float]:
    batches = iter(batches_of(awards_of(part), part.batch))

    async def main() -> tuple[float, float]:
        async with ledger_pool(part.url, part.connections) as pool:
            ledger = PostgresLedger(pool, SystemClock(), _known.setdefault(part.url, ClaimedKeys()))

            async def hand() -> None:
                for batch in batches:
                    await ledger.post(batch)

            return await timed(hand, part.connections)

    with _leaving_out(part.without):
        return uvloop.run(main())


@contextmanager
def _leaving_out(what: str) -> Iterator[None]:
    """Leave out a part that no ledger can do without, to measure its cost."""
    posting, lock = vars(transfer), rows._LOCK  # noqa: SLF001  # the statement is nobody else's business
    try:
        if what == CHAIN:
            posting["chain"] = lambda previous, body: _NO_CHAIN  # noqa: ARG005  # by the names that it has
        if what == LOTS:
            shorter = copy(lock)
            shorter.text = lock.text.replace(_LOTS, "")
            rows._LOCK = shorter  # type: ignore[misc]  # noqa: SLF001  # for once
        yield
    finally:
        posting["chain"], rows._LOCK = chain, lock  # type: ignore[misc]  # noqa: SLF001  # as it was


def _copy(part: Part) -> tuple[float, float]:
    """Copy the rows posted last, further along the sequences of their accounts."""

    async def main() -> tuple[float, float]:
        async with ledger_pool(part.url, part.connections) as pool:
            rows = await pool.fetch(_POSTED, FAR, AWARDS)
            further = FAR * (2 * part.round + part.copied + 1)
            records = [(*row[:2], row["seq"] + further, *row[3:]) for row in rows[part.number :: part.of]]
            batches = iter(batches_of(records, part.batch))

            async def hand() -> None:
                async with pool.acquire() as connection:
                    for batch in batches:
                        await connection.copy_records_to_table("transfer_1", records=batch, columns=Transfer._fields)

            return await timed(hand, part.connections)

    return uvloop.run(main())
