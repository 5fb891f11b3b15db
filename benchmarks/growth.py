"""The cost of posting as the ledger grows: with its accounts, and with its transfers.

Ledgers of several sizes stand side by side and take turns, so that the machine's load affects all alike. Not part of a
plain `make bench`: filling the large ones takes longer than measuring them.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Executor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, NamedTuple

from abacus.core.clock import SystemClock
from abacus.ledger.generations.keeper import GenerationKeeper
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.slices import slices_of
from benchmarks.posting import post
from benchmarks.posting_rounds import (
    AWARDERS,
    AWARDS,
    CONNECTIONS,
    EXPLANATION,
    Part,
    ledger_pool,
    processes,
    seconds_of,
)
from benchmarks.report import Figure, rate
from benchmarks.services import own_database, real_services

WARM_UP: Final = 3  # rounds
ROUNDS: Final = 6
# After a checkpoint each page is logged whole when it is first changed. So many rounds change most pages of ten million
# transfers' indexes; the cost of posting from then on is shown beside it, without a verdict.
WARM_FROM: Final = 12
FEW_ACCOUNTS: Final = 10_000
WITH_TRANSFERS: Final = 1_000_000  # accounts that share the transfers
MOST_RATIO: Final = 1.3
LONG_S: Final = 7200
OF_A_GENERATION: Final = 10_000_000  # transfers
TOGETHER: Final = 500  # transfers under one transaction id

_WHICH: Final = "GENERATION"
_ACCOUNTS: Final = """
insert into account (member_id, program, country, expires_on, balance, earned_total, last_seq, head_hash)
select 'm' || lpad(n::text, 8, '0'), 'GRP', 'SG', case when n % 5 > 0 then date '2026-11-30' end,
    180 * $2::bigint, 180 * $2::bigint, $2, case when $2 > 0 then sha256(int4send(n)) else '' end
from generate_series(0, $1::int - 1) as n
"""
# In the order of time, an account's far apart. Keys follow no order, as they come from many senders.
_TRANSFERS: Final = f"""
insert into transfer_GENERATION (member_id, program, seq, kind, points, balance_after, key, country, occurred_at,
    posted_at, expires_on, explanation, xid, hash)
select 'm' || lpad(n::text, 8, '0'), 'GRP', s, 'earn', 180, 180 * s, 'txn:rides:' || md5(n || '-' || s), 'SG',
    at - interval '3 seconds', at, date '2026-11-30', $3::json, ((s * $1::bigint + n) / {TOGETHER} + 1)::text::xid8,
    sha256(int4send(n))
from generate_series($4::int, $2::int) as s cross join lateral generate_series(0, $1::int - 1) as n
cross join lateral (select timestamptz '2025-01-01 00:00+00' + make_interval(days => s, secs => n % 86400) as at) as t
"""
_CLAIMS: Final = """
insert into claim_GENERATION (key, member_id, program, seq, fingerprint)
select key, member_id, program, seq, md5(key) from transfer_GENERATION
"""
# Adding these after the rows takes a tenth of the time.
WITHOUT_INDEXES: Final = (
    "alter table transfer_{0} drop constraint transfer_{0}_pkey",
    "drop index transfer_{0}_xid_idx",
    "alter table claim_{0} drop constraint claim_{0}_pkey",
)
INDEXES: Final = (
    "alter table transfer_{0} add constraint transfer_{0}_pkey primary key (member_id, program, seq)",
    "create index transfer_{0}_xid_idx on transfer_{0} (xid)",
    "alter table claim_{0} add constraint claim_{0}_pkey primary key (key)",
)
_SETTLED: Final = ("vacuum analyze account", "vacuum analyze transfer", "vacuum analyze claim", "checkpoint")


class Size(NamedTuple):
    """The accounts and transfers of a ledger before anything is posted."""

    accounts: int
    transfers: int = 0

    def __str__(self) -> str:
        transfers = f", {self.transfers:,} transfers" if self.transfers else ""
        return f"{self.accounts:,} accounts{transfers}"


async def measure(accounts: Sequence[int], transfers: Sequence[int]) -> list[Figure]:
    series = (
        [Size(FEW_ACCOUNTS), *(Size(count) for count in accounts)],
        [Size(WITH_TRANSFERS), *(Size(WITH_TRANSFERS, count) for count in transfers)],
    )
    with processes(AWARDERS) as awarders:
        async with real_services() as services:
            return [figure for sizes in series for figure in await _series(services, sizes, awarders)]


async def _series(services: Settings, sizes: Sequence[Size], awarders: Executor) -> list[Figure]:
    """Ledgers of these sizes side by side, posted to in turns."""
    if len(sizes) == 1:
        return []
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(_ledger(services, size)) for size in sizes]
        seconds, seconds_warm = [0.0 for _ in sizes], [0.0 for _ in sizes]
        for round_ in range(WARM_FROM + ROUNDS):
            for place, (size, url) in enumerate(zip(sizes, urls, strict=True)):
                parts = [
                    Part(url, size.accounts, round_, number, AWARDERS, CONNECTIONS, scattered=True)
                    for number in range(AWARDERS)
                ]
                taken = await asyncio.to_thread(seconds_of, awarders, post, parts)
                if WARM_UP <= round_ < WARM_UP + ROUNDS:
                    seconds[place] += taken
                elif round_ >= WARM_FROM:
                    seconds_warm[place] += taken
    judged = [_figure(place, sizes, seconds) for place in range(len(sizes))]
    return [*judged, *(_warm(place, sizes, seconds_warm) for place in range(len(sizes)))]


def _warm(place: int, sizes: Sequence[Size], seconds: Sequence[float]) -> Figure:
    beside = f"{seconds[place] / seconds[0]:.2f} times as long as with {sizes[0]}" if place else ""
    name = f"… with {sizes[place]}, once the pages have been logged whole"
    return Figure(name, rate(ROUNDS * AWARDS / seconds[place], "awards"), beside)


def _figure(place: int, sizes: Sequence[Size], seconds: Sequence[float]) -> Figure:
    name, posted = f"posting with {sizes[place]} present", rate(ROUNDS * AWARDS / seconds[place], "awards")
    if place == 0:
        return Figure(name, posted)
    ratio, of_last = seconds[place] / seconds[0], seconds[place] / seconds[place - 1]
    beside = f"{ratio:.2f} times as long as with {sizes[0]}"
    if place > 1:
        beside += f", {of_last:.2f} times as long as with {sizes[place - 1]}"
    return Figure(name, posted, beside, f"<= {MOST_RATIO}", ratio <= MOST_RATIO)


@asynccontextmanager
async def _ledger(services: Settings, size: Size) -> AsyncIterator[str]:
    async with own_database(services) as settings:
        url, began = settings.required("database_url"), time.monotonic()
        async with ledger_pool(url, 3, owner=True) as owner:
            await fill(owner, size)
        print(f"  {size}: filled in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        yield url


async def fill(owner: Pool, size: Size) -> None:
    """The last generation is nearly full; those before it are closed."""
    each = size.transfers // size.accounts
    await owner.execute(_ACCOUNTS, size.accounts, each, timeout=LONG_S)
    seqs_of_one = max(1, OF_A_GENERATION // size.accounts)
    for generation, first in enumerate(range(1, each + 1, seqs_of_one), 1):
        last = min(each, first + seqs_of_one - 1)
        await _fill_one(owner, generation, size.accounts, first, last)
        if last < each:
            await _go_on(owner)
    for statement in _SETTLED:
        await owner.execute(statement, timeout=LONG_S)


async def _fill_one(owner: Pool, generation: int, accounts: int, first: int, last: int) -> None:
    for statement in WITHOUT_INDEXES:
        await owner.execute(statement.format(generation), timeout=LONG_S)
    await owner.execute(_TRANSFERS.replace(_WHICH, str(generation)), accounts, last, EXPLANATION, first, timeout=LONG_S)
    await owner.execute(_CLAIMS.replace(_WHICH, str(generation)), timeout=LONG_S)
    for statement in INDEXES:
        await owner.execute(statement.format(generation), timeout=LONG_S)


async def _go_on(owner: Pool) -> None:
    """The next generation is opened, and the last one closed."""
    keeper = GenerationKeeper(owner, SystemClock(), most=0)
    (whole,) = await slices_of(owner)
    async with owner.acquire() as connection:
        await keeper.open_next(whole, connection)
        await keeper.close_one(whole, connection)
