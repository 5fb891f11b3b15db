"""Posting in batches against one transaction of three single-row statements for each award, as one would write it
for pgbench: no decision, no chain of hashes, no check of the key but the constraint.
"""

import asyncio
from concurrent.futures import Executor
from typing import Final

import uvloop

from abacus.ledger.types.award_envelope import Award
from abacus.platform.postgres import Connection
from benchmarks.posting import post
from benchmarks.posting_rounds import (
    AWARDERS,
    AWARDS,
    CONNECTIONS,
    MEMBERS,
    Part,
    awards_of,
    ledger_pool,
    processes,
    seconds_of,
    timed,
)
from benchmarks.report import Figure, rate
from benchmarks.services import own_database, real_services

WARM_UP: Final = 2  # rounds
ROUNDS: Final = 6
SINGLE: Final = 4_000  # awards of a round that are posted one by one
MANY: Final = 8  # connections of each process then: one waits for the disk while others work

_CLAIM: Final = "insert into claim (key, member_id, program, seq, fingerprint) values ($1, $2, $3, $4, $5)"
_UPDATE: Final = """
update account set balance = balance + $3, earned_total = earned_total + $3, last_seq = last_seq + 1, expires_on = $4
where member_id = $1 and program = $2
returning last_seq, balance
"""
_TRANSFER: Final = """
insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    expires_on, explanation, hash)
values ($1, $2, $3, 'earn', $4, $5, $6, $7, $8, now(), $9, $10, '')
"""


async def measure(accounts: int) -> list[Figure]:
    async with real_services() as services, own_database(services) as settings:
        url = settings.required("database_url")
        async with ledger_pool(url, 1, owner=True) as owner:
            await owner.execute(MEMBERS, accounts, timeout=600)
            await owner.execute("vacuum analyze account", timeout=600)
            await owner.execute("checkpoint", timeout=600)
        with processes(AWARDERS) as workers:
            batched, singly = await asyncio.to_thread(_measure, url, accounts, workers)
    return [
        Figure(
            f"an award a transaction, three single rows, {accounts:,} accounts, {AWARDERS * MANY} connections",
            rate(singly, "awards"),
            f"posting in batches does {batched / singly:.1f} times as many, {rate(batched, 'awards')}",
        )
    ]


def _measure(url: str, accounts: int, workers: Executor) -> tuple[float, float]:
    """Awards a second of each, in turns."""
    batched = singly = 0.0
    for round_ in range(WARM_UP + ROUNDS):
        parts = [Part(url, accounts, round_, number, AWARDERS, CONNECTIONS) for number in range(AWARDERS)]
        seconds = seconds_of(workers, post, parts)
        single = [part._replace(round=round_ + 1000, connections=MANY) for part in parts]
        seconds_single = seconds_of(workers, _one_by_one, single)
        if round_ >= WARM_UP:
            batched, singly = batched + seconds, singly + seconds_single
    return ROUNDS * AWARDS / batched, ROUNDS * SINGLE / singly


def _one_by_one(part: Part) -> tuple[float, float]:
    awards = iter(awards_of(part, SINGLE))

    async def main() -> tuple[float, float]:
        async with ledger_pool(part.url, part.connections) as pool:

            async def hand() -> None:
                async with pool.acquire() as connection:
                    for award in awards:
                        await _post(connection, award)

            return await timed(hand, part.connections)

    return uvloop.run(main())


async def _post(connection: Connection, award: Award) -> None:
    account = (award.member_id, award.program)
    async with connection.transaction():
        seq, balance = await connection.fetchrow(_UPDATE, *account, award.points, award.expires_on)
        await connection.execute(_CLAIM, award.key, *account, seq, award.fingerprint)
        await connection.execute(
            _TRANSFER,
            *(*account, seq, award.points, balance, award.key, award.country),
            *(award.occurred_at, award.expires_on, award.explanation),
        )
