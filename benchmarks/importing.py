"""Importing opening balances for new accounts, against a bare COPY of the same rows into the same three tables."""

import time
from datetime import date
from pathlib import Path
from typing import Final

from abacus.core.clock import SystemClock
from abacus.ledger.decide.opening_balance import Origin
from abacus.ledger.types.account import Account
from abacus.ledger.types.port import Claim
from abacus.ledger.types.transfer import Transfer
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.process import look_for_garbage_seldom
from abacus.programs.opening.balance_import import HANDS, PAGE, Import
from abacus.programs.opening.decide.line import Fault, Known
from abacus.programs.opening.files import opened
from abacus.programs.opening.stage import Stage
from benchmarks.report import Figure, rate

ROWS: Final = 200_000
WANTED: Final = 10_000

_KNOWN: Final = Known(frozenset({"GRP"}), {"SG": date(2026, 1, 1)})
_COLUMNS: Final = {"claim": Claim._fields, "account": Account._fields, "transfer": Transfer._fields}


async def measure(directory: Path) -> list[Figure]:
    look_for_garbage_seldom()  # as the command does
    file = _file(directory)
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        checked = await _import(url, file, posting=False)
        imported = await _import(url, file, posting=True)
        again = await _import(url, file, posting=True)
        owner = await open_pool(url, size=1, role=None)
        try:
            copied = await _copy(owner)
        finally:
            await owner.close()
    return [
        Figure(
            f"import of {ROWS:,} opening balances, {PAGE:,} a transaction, {HANDS} connections",
            rate(ROWS / imported, "rows"),
            f"{copied / imported:.2f} of the bare COPY",
            f">= {WANTED:,}/s",
            ROWS / imported >= WANTED,
        ),
        Figure("… read and checked only", rate(ROWS / checked, "rows"), f"{imported / checked:.1f} of importing"),
        Figure("… all there already", rate(ROWS / again, "rows"), f"{imported / again:.1f} of importing"),
        Figure(
            f"bare COPY of the same claims, accounts and transfers, {PAGE:,} a transaction, 1 connection",
            rate(ROWS / copied, "rows"),
        ),
    ]


def _file(directory: Path) -> Path:
    path = directory / "balances.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write("member_id,program,country,balance,expires_on\n")
        # Not in the order of members, as another system's table may well come.
        file.writelines(f"m{number * 7919 % ROWS:08},GRP,SG,{number % 5000},2027-06-30\n" for number in range(ROWS))
    return path


async def _import(url: str, file: Path, *, posting: bool) -> float:
    """Import as the command does, without its start."""
    asking, poster = await open_pool(url, size=1), await open_pool(url, size=HANDS, settings=LOOKUPS_BY_KEY)
    origin = Origin("oldsystem", "benchmark")
    try:
        async with asking.acquire() as staging:
            began = time.monotonic()
            job = Import(poster, Stage(staging, origin), SystemClock(), origin, _fail)
            with opened(file) as lines:
                await job.stage(lines, _KNOWN, _unseen)
            tally = await job.check(_unseen)
            if posting:
                tally = await job.post(_unseen)
            seconds = time.monotonic() - began
    finally:
        await asking.close()
        await poster.close()
    if tally.new + tally.already != ROWS:
        raise RuntimeError(f"the import failed: {tally}")
    return seconds


def _unseen(_: int) -> None:
    """A progress callback that does nothing."""


def _fail(fault: Fault) -> None:
    raise RuntimeError(str(fault))


async def _copy(owner: Pool) -> float:
    """Copy the imported rows, under other members' names."""
    rows = {
        table: await owner.fetch(f"select {', '.join(columns)} from {table} order by member_id", timeout=600)
        for table, columns in _COLUMNS.items()
    }
    batches = []
    for start in range(0, ROWS, PAGE):
        batch = {}
        for table, columns in _COLUMNS.items():
            place = columns.index("member_id")
            key = columns.index("key") if "key" in columns else None
            batch[table] = [
                tuple(f"x{value}" if position in {place, key} else value for position, value in enumerate(tuple(row)))
                for row in rows[table][start : start + PAGE]
            ]
        batches.append(batch)
    async with owner.acquire() as connection:
        began = time.monotonic()
        for batch in batches:
            async with connection.transaction():
                for table, records in batch.items():
                    await connection.copy_records_to_table(table, records=records, columns=_COLUMNS[table])
        return time.monotonic() - began
