"""Spending over the API: from many members at once, and all from one; with the service of the award benchmark."""

import statistics
from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from typing import Final

from abacus.platform.postgres import Pool, open_pool
from benchmarks.api import CALLERS, ROUNDS, SECONDS, Load, load, request, service
from benchmarks.report import Figure, rate

MEMBERS: Final = 100_000
WANTED: Final = 1_000
WANTED_HOT: Final = 150

RICH: Final = """
insert into account (member_id, program, country, balance, earned_total)
select 'm' || n, 'GRP', 'SG', 1000000000, 1000000000 from generate_series(0, $1::int - 1) as n
"""


async def measure(directory: Path) -> list[Figure]:
    async with AsyncExitStack() as stack:
        api = await service(stack, directory)
        owner = await open_pool(api.settings.required("database_url"), size=1, role=None)
        await owner.execute(RICH, MEMBERS, timeout=600)
        await owner.execute("vacuum analyze account")
        await owner.close()
        spread, hot, held = _spends(api.key, MEMBERS), _spends(api.key, 1), _holds(api.key)
        await load(api.port, spread, CALLERS, SECONDS / 2)
        rounds: dict[str, list[Load]] = {"spread": [], "hot": [], "holds": []}
        for _ in range(ROUNDS):
            rounds["spread"].append(await load(api.port, spread, CALLERS, SECONDS))
            rounds["hot"].append(await load(api.port, hot, CALLERS, SECONDS))
            rounds["holds"].append(await load(api.port, held, CALLERS, SECONDS))
        await is_right(api.pool)
    spread_s, hot_s, held_s = (statistics.mean(each.per_s for each in loads) for loads in rounds.values())
    p99 = {name: statistics.mean(each.p99_ms for each in loads) for name, loads in rounds.items()}
    return [
        Figure(
            f"API, spends from {MEMBERS:,} members, {CALLERS} callers, one process",
            f"{rate(spread_s, 'spends')}, p99 {p99['spread']:.0f} ms",
            "",
            f">= {WANTED:,}/s",
            spread_s >= WANTED,
        ),
        Figure(
            f"… all from one member, {CALLERS} callers",
            f"{rate(hot_s, 'spends')}, p99 {p99['hot']:.0f} ms",
            f"{hot_s / spread_s:.2f} of those from many",
            f">= {WANTED_HOT:,}/s",
            hot_s >= WANTED_HOT,
        ),
        Figure(
            "… holds placed",
            f"{rate(held_s, 'holds')}, p99 {p99['holds']:.0f} ms",
            f"{held_s / spread_s:.2f} of spends",
        ),
    ]


def _spends(key: str, members: int) -> Iterator[bytes]:
    for number in count():
        path = f"/v1/members/m{number * 7919 % members}/spend"
        yield request("POST", path, key, {"points": 5, "reason": "x"}, f"idempotency-key: {members}-{number}\r\n")


def _holds(key: str) -> Iterator[bytes]:
    for number in count():
        path = f"/v1/members/m{number * 7919 % MEMBERS}/holds"
        yield request("POST", path, key, {"points": 5, "reason": "x"}, f"idempotency-key: h-{number}\r\n")


async def is_right(pool: Pool) -> None:
    """Whether every spend is in the balance of its member, once."""
    gone = await pool.fetchval("select sum(earned_total - balance) from account")
    spent = await pool.fetchval("select -sum(points) from transfer where points < 0")
    if gone != spent:
        raise RuntimeError(f"{spent} points were spent, {gone} are gone")
