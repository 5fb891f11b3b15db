"""The backtests of an offer and of a reward over five million transfers: how long they take, and that their memory
stays as it is. Each is the command itself, in a process of its own.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from abacus.core.document_text import write_toml
from abacus.core.errors import Unavailable
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.settings import Settings
from benchmarks.memory import mib
from benchmarks.pipeline import environment
from benchmarks.report import Figure
from benchmarks.reports import TRANSFERS, filled

WANTED_S: Final = 300.0
WANTED_MIB: Final = 256
MOST_GROWTH: Final = 1.2
_WATCH_S: Final = 0.1
_OVER: Final = ("--from", "2025-01", "--to", "2026-12")
_HEADING: Final[Mapping[str, Any]] = {
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": datetime(2025, 1, 1, tzinfo=UTC),
    "ends_at": datetime(2036, 1, 1, tzinfo=UTC),
}

# It fits most purchases, and counts the uses of each member.
_OFFER: Final[Mapping[str, Any]] = {
    **_HEADING,
    "name": "not_by_cash",
    "audience": "public",
    "benefit": {"percent": "10", "cap": "3"},
    "scope": {"everything": True},
    "when": {"operator": "in", "lhs": "var.payment_type", "rhs": ["wallet", "card"]},
    "limits": {"uses": {"overall": 1_000_000, "member_day": 1, "member": 5}},
    "paid_by": {"cost_centre": "benchmark"},
}

# Most members can afford it, and take some pieces on several days.
_REWARD: Final[Mapping[str, Any]] = {
    **_HEADING,
    "name": "miles",
    "texts": {"en": {"title": "Miles"}},
    "price": {"points": 300, "tiers": {"gold": 250}},
    "delivery": {"program": "OVO", "points": 10},
    "when": {"operator": "in", "lhs": "member.tier", "rhs": ["silver", "gold", "platinum"]},
    "limits": {"uses": {"overall": 1_000_000, "day": 5_000, "member_day": 1, "member": 5}},
}


class Tested(NamedTuple):
    """What the command told, its seconds of the clock and of its CPU, and its memory: when a quarter of the time was
    over, and at the end.
    """

    told: Mapping[str, Any]
    seconds: float
    cpu_s: float
    quarter_mib: int
    end_mib: int


async def measure(directory: Path, transfers: int = TRANSFERS) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        settings = Settings(database_url=stack.database_url)
        await migrate(settings.required("database_url"))
        await filled(settings, transfers)
        offer = await _tested(settings, directory, "offers", _OFFER)
        reward = await _tested(settings, directory, "rewards", _REWARD)
    return [
        *_figures(f"backtest of an offer over {offer.told['purchases']:,} purchases of two years", offer),
        *_figures(f"backtest of a reward over {reward.told['read']:,} changes of balances of two years", reward),
    ]


async def _tested(settings: Settings, directory: Path, family: str, draft: Mapping[str, Any]) -> Tested:
    file = directory / f"{family}.toml"
    await asyncio.to_thread(file.write_text, write_toml(dict(draft)), encoding="utf-8")
    began, cpu_s = time.monotonic(), 0.0
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", family, "backtest", str(file), *_OVER, "--json"),
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
    )
    telling = asyncio.create_task(process.communicate())
    sizes: list[int] = []
    while not telling.done():
        with suppress(OSError, KeyError, psutil.Error):  # it has just ended
            sizes.append(mib(process.pid))
            cpu_s = sum(psutil.Process(process.pid).cpu_times()[:2])
        await asyncio.wait((telling,), timeout=_WATCH_S)
    seconds = time.monotonic() - began
    if process.returncode:
        raise Unavailable("backtest", f"it ended with {process.returncode}")
    told, _ = telling.result()
    return Tested(json.loads(told), seconds, cpu_s, sizes[len(sizes) // 4], max(sizes[-3:]))


def _figures(name: str, tested: Tested) -> Iterator[Figure]:
    growth = tested.end_mib / tested.quarter_mib
    yield Figure(
        name,
        f"{tested.seconds:.1f} s",
        f"{tested.cpu_s:.1f} s of CPU of the command",
        f"< {WANTED_S:.0f} s",
        tested.seconds < WANTED_S,
    )
    yield Figure(
        "… its memory at the end",
        f"{tested.end_mib} MiB",
        f"{growth:.2f} of that after a quarter of the time",
        f"<= {WANTED_MIB} MiB, <= {MOST_GROWTH} times",
        tested.end_mib <= WANTED_MIB and growth <= MOST_GROWTH,
    )
