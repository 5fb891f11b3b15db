"""The reports, and the backtest of a card, over five million transfers of half a million accounts, with the memory of
both sides.

Each report is the command itself, in a process of its own. Its memory, and that of the Postgres processes that serve
it, is read while it runs.
"""

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import psutil

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from abacus.pricing.decide.card import to_toml
from abacus.pricing.store.cards import CardStore
from benchmarks.pipeline import environment
from benchmarks.report import Figure

TRANSFERS: Final = 5_000_000
OF_EACH: Final = 10  # transfers of an account, over twenty months
WANTED_S: Final = 120.0
WANTED_BYTES: Final = 1024 * 1024 * 1024
REPORTS: Final[Mapping[str, Sequence[str]]] = {
    "rollforward of a month": ("report", "rollforward", "--month", "2026-06"),
    "rollforward by country, tier and partner": (
        *("report", "rollforward", "--month", "2026-06"),
        *("--by", "country", "--by", "tier", "--by", "partner"),
    ),
    "liability at a date": ("report", "liability", "--at", "2026-06-30"),
    "ageing, a tenth of the accounts with a date for each lot": ("report", "ageing"),
    "cohorts": ("report", "cohorts"),
    "cohorts by country, tier and partner": (
        *("report", "cohorts", "--by", "country", "--by", "tier", "--by", "partner"),
    ),
    "revenue of a month": ("report", "revenue", "--month", "2026-06"),
}

# Of an account's ten transfers the fourth and the eighth spend, the tenth of every fifth account is an expiry, the rest
# are awards; in the order of time, so that an account's rows lie far apart, as they do in life.
_TRANSFERS: Final = """
with drawn as materialized (
    select n, s, country, timestamptz '2025-01-03 00:00+00' + make_interval(days => s * 60 + n % 50, secs => n % 86400)
            as at,
        (array['food', 'rides', 'mart', 'express'])[1 + (n + s) % 4] as vertical,
        (array['wallet', 'card', 'cash'])[1 + (n * 7 + s) % 3] as payment,
        (array['member', 'silver', 'gold', 'platinum'])[1 + n % 4] as tier,
        60 + (n * 31 + s * 17) % 400 as points
    from (select n, case when n % 10 < 6 then 'SG' when n % 10 < 9 then 'MY' else 'TH' end as country
          from generate_series(0, $1::int - 1) as n) as member
    cross join generate_series(1, 10) as s
), signed as (
    select *, case when s in (4, 8) then 'spend' when s = 10 and n % 5 = 0 then 'expire' else 'earn' end as kind,
        case when s = 4 then -100 when s = 8 then -150 when s = 10 and n % 5 = 0 then 0 else points end as moved
    from drawn
), summed as (
    select *, sum(moved) over (partition by n order by s) as balance from signed
)
insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    expires_on, explanation, hash)
select 'm' || lpad(n::text, 8, '0'), 'GRP', s, kind,
    case kind when 'expire' then -balance else moved end, case kind when 'expire' then 0 else balance end,
    case kind when 'earn' then 'txn:' || vertical || ':T' || n * 10 + s when 'spend' then 'api:acme:' || n * 10 + s
        else 'expiry:' || to_char(at, 'YYYY-MM') end,
    country, at - interval '3 seconds', at, date '2027-03-31',
    case kind
        when 'spend' then format('{"points":%s,"reason":"a voucher","spent_by":"acme"}', moved)
        when 'expire' then format('{"expired_on":"2026-10-31","balance":%s,"held":0,"points":%s}', balance, -balance)
        else format(
            '{"amount":"%s.50","currency":"SGD","card":"%s@1","factors":[["vertical","%s","2"],["eppf","%s","1"],'
            '["cashless","%s","2"],["tier","%s","3"]],"product":"%s.00","rounding":"floor","points":%s}',
            points / 4, country, vertical, country, payment, tier, points, points
        )
    end::json,
    sha256(int4send(n))
from summed order by s, n
"""
_ACCOUNTS: Final = """
insert into account (member_id, program, country, balance, earned_total, expires_on, last_seq, lifetime, lots_drawn)
select member_id, program, min(country), sum(points), coalesce(sum(points) filter (where kind = 'earn'), 0),
    date '2027-03-31', count(*), min(country) = 'TH', -coalesce(sum(points) filter (where points < 0), 0)
from transfer group by member_id, program
"""
_ASSUMED: Final = """
insert into assumption (program, country, version, effective_from, currency, expected_use, cost_per_point,
    allocated_per_point, set_at, set_by, reason)
values ('GRP', $1, 1, '2025-01-01', 'SGD', 0.97, 0.008, 0.009, now(), 'benchmark', 'a benchmark')
"""


class Run(NamedTuple):
    """A command's duration, and the most memory of its own and of the Postgres processes that serve it."""

    seconds: float
    client: int
    backends: int


async def measure(directory: Path) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        settings = Settings(database_url=stack.database_url)
        await migrate(settings.required("database_url"))
        await filled(settings, TRANSFERS)
        card = str(await asyncio.to_thread(_card, directory))
        backtest = {
            "backtest of two years, 2,300,000 awards of one country": (
                *("rates", "backtest", card, "--from", "2025-01", "--to", "2026-12"),
            )
        }
        figures: list[Figure] = []
        for name, command in {**REPORTS, **backtest}.items():
            figures.append(_figure(name, await _timed(settings, (*command, "--json"))))
            print(f"  {figures[-1].name}: {figures[-1].value}", file=sys.stderr, flush=True)
        return figures


async def filled(settings: Settings, transfers: int) -> None:
    """So many transfers, ten of each account."""
    owner = await open_pool(settings.required("database_url"), size=1, role=None)
    try:
        await _fill(owner, transfers // OF_EACH)
    finally:
        await owner.close()


async def _fill(owner: Pool, accounts: int) -> None:
    store, now = CardStore(owner), SystemClock().now()
    for card in example_cards():
        await store.publish(card, by="benchmark", now=now)
    # Indexes are made after the rows: so the transfers are there in a minute.
    await owner.execute(
        "alter table transfer_1 drop constraint transfer_1_pkey; drop index transfer_1_xid_idx", timeout=600
    )
    await owner.execute(_TRANSFERS, accounts, timeout=1800)
    await owner.execute("alter table transfer_1 add primary key (member_id, program, seq)", timeout=1800)
    await owner.execute("create index on transfer_1 (xid)", timeout=1800)
    await owner.execute(_ACCOUNTS, timeout=1800)
    for country in ("SG", "MY", "TH"):
        await owner.execute(_ASSUMED, country)
    for statement in ("vacuum analyze transfer", "vacuum analyze account", "checkpoint"):
        await owner.execute(statement, timeout=1800)


def _card(directory: Path) -> Path:
    """Singapore's card, with food at two and a half."""
    (card,) = (each for each in example_cards() if each.scope == "SG")
    file = directory / "card.toml"
    file.write_text(to_toml(card).replace('food = "2"', 'food = "2.5"'), encoding="utf-8")
    return file


async def _timed(settings: Settings, command: Sequence[str]) -> Run:
    began = time.monotonic()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "abacus", *command, env=environment(settings), stdout=asyncio.subprocess.DEVNULL
    )
    looking = asyncio.create_task(_most_memory(process.pid))
    if await process.wait():
        raise RuntimeError(f"{' '.join(command)} failed")
    seconds = time.monotonic() - began
    looking.cancel()
    client, backends = await looking
    return Run(seconds, client, backends)


async def _most_memory(pid: int) -> tuple[int, int]:
    """Read the memory until cancelled, and return the most."""
    client = backends = 0
    try:
        while True:
            client = max(client, _resident(pid))
            backends = max(backends, sum(map(_share, _backends())))
            await asyncio.sleep(0.1)
    except asyncio.CancelledError:
        return client, backends


def _backends() -> list[psutil.Process]:
    """The process that serves the command's connection, and those that work for it in parallel."""
    below = psutil.Process().children(recursive=True)
    return [each for each in below if any(word in _title(each) for word in ("127.0.0.1(", "parallel worker"))]


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _share(process: psutil.Process) -> int:
    """The process's own memory and its part of shared memory, such as the server's buffers: nothing counts twice."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0


def _resident(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _figure(name: str, run: Run) -> Figure:
    both = run.client + run.backends
    return Figure(
        f"{name}, {TRANSFERS:,} transfers",
        f"{run.seconds:.1f} s, {both / 1024**2:.0f} MiB",
        f"{run.client / both:.2f} of the memory is the command's",
        f"< {WANTED_S:.0f} s, < 1 GiB",
        run.seconds < WANTED_S and both < WANTED_BYTES,
    )
