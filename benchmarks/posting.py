"""Posting to the ledger with a million accounts present, against a bare COPY of the same rows."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
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
from abacus.process import look_for_garbage_seldom
from benchmarks.report import Figure, rate

WARM_UP: Final = 100_000
ROUNDS: Final = 8
AWARDS: Final = 20_000  # a round
FAR: Final = 1_000_000
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

_POSTED: Final = f"select {', '.join(Transfer._fields)} from transfer where seq < $1 order by xid desc limit $2"


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        async with _pool(url) as pool, _pool(url, owner=True) as owner:
            await pool.execute(_MEMBERS, accounts, timeout=600)
            await owner.execute("vacuum analyze account", timeout=600)
            return await _measure(pool, owner, accounts)


async def _measure(pool: Pool, owner: Pool, accounts: int) -> list[Figure]:
    """Posting and COPY take turns, so that both meet the machine in the same moods."""
    rng = random.Random(7)
    ledger = PostgresLedger(pool, SystemClock())
    awards = [_award(number, rng.randrange(accounts)) for number in range(WARM_UP + ROUNDS * AWARDS)]
    rounds = [awards[start : start + AWARDS] for start in range(WARM_UP, len(awards), AWARDS)]
    look_for_garbage_seldom()  # as a worker does; the awards waiting to be posted are the benchmark's own
    await owner.execute("checkpoint", timeout=600)
    await _post(ledger, awards[:WARM_UP])  # the first change of a page after a checkpoint is dear, so it is not timed
    posting = duplicates = 0.0
    copying = {1: 0.0, CONNECTIONS: 0.0}
    for number, round_ in enumerate(rounds):
        posting += await _post(ledger, round_)
        for place, connections in enumerate(copying, start=1):
            copying[connections] += await _copy(pool, connections, FAR * (place + len(copying) * number))
        duplicates += await _post(ledger, round_)
    ratio = copying[1] / posting
    return [
        Figure(
            f"ledger posting, new awards, {accounts:,} accounts, {BATCH} a transaction, {CONNECTIONS} connections",
            rate(ROUNDS * AWARDS / posting, "awards"),
            f"{ratio:.2f} of a bare COPY",
            f">= {WANTED:,}/s and >= {WANTED_RATIO}",
            ROUNDS * AWARDS / posting >= WANTED and ratio >= WANTED_RATIO,
        ),
        *(
            Figure(
                f"bare COPY of the same rows into the same indexed transfer table, {BATCH} a transaction, "
                f"{connections} connection{'s' if connections > 1 else ''}",
                rate(ROUNDS * AWARDS / seconds, "rows"),
                f"posting is {seconds / posting:.2f} of it",
            )
            for connections, seconds in copying.items()
        ),
        Figure(
            "posting the same awards again (all duplicates)",
            rate(ROUNDS * AWARDS / duplicates, "awards"),
            f"{posting / duplicates:.1f} of new",
        ),
    ]


async def _post(ledger: PostgresLedger, awards: Sequence[Award]) -> float:
    """The seconds it takes."""
    batches = iter([awards[start : start + BATCH] for start in range(0, len(awards), BATCH)])

    async def hand() -> None:
        for batch in batches:
            await ledger.post(batch)

    return await _seconds(hand, CONNECTIONS)


async def _copy(pool: Pool, connections: int, further: int) -> float:
    """The seconds that COPY alone takes for the rows posted last, put further along the sequences of their accounts."""
    rows = await pool.fetch(_POSTED, FAR, AWARDS)
    records = [(*row[:2], row["seq"] + further, *row[3:]) for row in rows]
    batches = iter([records[start : start + BATCH] for start in range(0, len(records), BATCH)])

    async def hand() -> None:
        async with pool.acquire() as connection:
            for batch in batches:
                await connection.copy_records_to_table("transfer", records=batch, columns=Transfer._fields)

    return await _seconds(hand, connections)


async def _seconds(hand: Callable[[], Awaitable[None]], hands: int) -> float:
    started = time.perf_counter()
    await asyncio.gather(*(hand() for _ in range(hands)))
    return time.perf_counter() - started


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
