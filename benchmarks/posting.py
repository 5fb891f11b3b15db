"""Posting to the ledger with a million accounts present, against a bare COPY of the same rows."""

import asyncio
import gc
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from abacus.core.clock import SystemClock
from abacus.embedded import EmbeddedStack
from abacus.ledger.award import Award, Kind
from abacus.ledger.post import POSTING_PLANS, PostgresLedger
from abacus.ledger.transfer import Transfer
from abacus.migrations import migrate
from abacus.postgres import Pool, open_pool
from benchmarks.report import Figure, rate

AWARDS: Final = 120_000
WANTED: Final = 18_000
WANTED_RATIO: Final = 0.28
CONNECTIONS: Final = 3
BATCH: Final = 500

_EXPLANATION: Final = (
    b'{"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],["eppf","SG","1"],'
    b'["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}'
)
_NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)

_MEMBERS: Final = """
insert into account (member_id, program, country) select 'm' || lpad(n::text, 8, '0'), 'GRP', 'SG'
from generate_series(0, $1::int - 1) as n
"""


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        async with _pool(url) as pool, _pool(url, owner=True) as owner:
            await pool.execute(_MEMBERS, accounts, timeout=600)
            await owner.execute("vacuum analyze account", timeout=600)
            return await _measure(pool, owner, accounts)


async def _measure(pool: Pool, owner: Pool, accounts: int) -> list[Figure]:
    rng = random.Random(7)
    ledger = PostgresLedger(pool, SystemClock())
    awards = [_award(number, rng.randrange(accounts)) for number in range(2 * AWARDS)]
    gc.freeze()  # the awards waiting to be posted are the benchmark's own, not a worker's
    await owner.execute("checkpoint", timeout=600)
    await _post(ledger, awards[:AWARDS])  # the first change of a page after a checkpoint is dear, so it is not timed
    posting = await _post(ledger, awards[AWARDS:])
    copying = await _copy(pool)
    duplicates = await _post(ledger, awards[AWARDS:])
    ratio = posting / copying
    return [
        Figure(
            f"ledger posting, new awards, {accounts:,} accounts, {BATCH} a transaction, {CONNECTIONS} connections",
            rate(posting, "awards"),
            f"{ratio:.2f} of the bare COPY",
            f">= {WANTED:,}/s and >= {WANTED_RATIO}",
            posting >= WANTED and ratio >= WANTED_RATIO,
        ),
        Figure("bare COPY of the same rows into the same indexed transfer table", rate(copying, "rows"), "1.00"),
        Figure(
            "posting the same awards again (all duplicates)",
            rate(duplicates, "awards"),
            f"{duplicates / posting:.1f} of new",
        ),
    ]


async def _post(ledger: PostgresLedger, awards: Sequence[Award]) -> float:
    """Awards a second."""
    batches = iter([awards[start : start + BATCH] for start in range(0, len(awards), BATCH)])

    async def hand() -> None:
        for batch in batches:
            await ledger.post(batch)

    started = time.perf_counter()
    await asyncio.gather(*(hand() for _ in range(CONNECTIONS)))
    return len(awards) / (time.perf_counter() - started)


async def _copy(pool: Pool) -> float:
    """Rows a second of COPY alone: the rows of the last round, for the same accounts, further along their sequences."""
    rows = await pool.fetch(f"select {', '.join(Transfer._fields)} from transfer order by xid desc limit {AWARDS}")
    records = [(*row[:2], row[2] + 1_000_000, *row[3:]) for row in rows]
    batches = iter([records[start : start + BATCH] for start in range(0, len(records), BATCH)])

    async def hand() -> None:
        async with pool.acquire() as connection:
            for batch in batches:
                await connection.copy_records_to_table("transfer", records=batch, columns=Transfer._fields)

    started = time.perf_counter()
    await asyncio.gather(*(hand() for _ in range(CONNECTIONS)))
    return len(records) / (time.perf_counter() - started)


def _award(number: int, member: int) -> Award:
    activity = True
    return Award(
        f"txn:rides:T-{number:09}",
        f"m{member:08}",
        "GRP",
        "SG",
        Kind.EARN,
        180,
        _NOW,
        date(2026, 11, 30),
        activity,
        f"{number:032x}",
        _EXPLANATION,
    )


@asynccontextmanager
async def _pool(url: str, *, owner: bool = False) -> AsyncIterator[Pool]:
    pool = await (
        open_pool(url, size=1, role=None) if owner else open_pool(url, size=CONNECTIONS, settings=POSTING_PLANS)
    )
    try:
        yield pool
    finally:
        await pool.close()
