"""Redemptions of one reward by callers of many members: a desk in this process, and the API in a process of its own.

Every tenth request is a repetition of one before. Each redemption holds points, takes stock and a code, captures the
hold, and reads the code.
"""

import asyncio
import json
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias

import psutil

from abacus.core.clock import SystemClock
from abacus.core.sources import Agent, partner_source
from abacus.documents.stated import Change
from abacus.engage.asking.types import Standing
from abacus.engage.rewards.decide.draft import Ask
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_reader import parse_reward
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.publications import reward_publications
from abacus.engage.rewards.redeemer import Redeemer
from abacus.engage.rewards.redemption_desk import RedemptionDesk
from abacus.engage.rewards.redemption_rows import RedemptionRows
from abacus.engage.rewards.reward_store import RewardStore
from abacus.ledger.store.moves import PostgresMoves
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.settings import Settings
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.signals.facts.types import FactRegistry
from abacus.signals.segments.sets import Pair
from benchmarks.api import exchange, free_port, is_up, request
from benchmarks.callers import entered_partner
from benchmarks.pipeline import worker
from benchmarks.report import Figure, rate
from benchmarks.reward_codes import POOL

SECONDS: Final = 10.0
CALLERS: Final = 128
FEW_CALLERS: Final = 32
MEMBERS: Final = 100_000
WANTED: Final = 1_000
_REPEATED: Final = 0.1  # a share of the requests
_CONNECTIONS: Final = 8
_NAME: Final = "coffee"
_PROGRAM: Final = "GRP"
_PARTNER: Final = Agent("acme", partner_source("acme"))
_ENTER: Final = """
insert into account (member_id, program, country, balance, earned_total)
select 'm' || n, 'GRP', 'SG', 1000000000, 1000000000 from generate_series(0, $1::int - 1) as n
"""
_GIVEN: Final = """
select count(*) as codes, count(distinct redemption_id) as redemptions from reward_code where redemption_id is not null
"""

# The code that a member is given under a key.
Redeem: TypeAlias = Callable[[str, str], Awaitable[str]]


class _Taken(NamedTuple):
    """How long each redemption took, the CPU of the process that redeemed, and the codes by key; `other` are keys that
    were given another code when they were asked for again.
    """

    seconds: float
    cpu_s: float
    latencies_s: list[float]
    codes: dict[str, str]
    other: list[str]

    @property
    def cpu_us(self) -> float:
        """Of one redemption."""
        return 1e6 * self.cpu_s / len(self.codes)

    @property
    def per_s(self) -> float:
        return len(self.codes) / self.seconds

    @property
    def p99_ms(self) -> float:
        return statistics.quantiles(self.latencies_s, n=100)[98] * 1000


async def measure(pool: Pool, settings: Settings, seconds: float = SECONDS) -> list[Figure]:
    await pool.execute(_ENTER, MEMBERS, timeout=600)
    await pool.execute("vacuum analyze account")
    await pool.execute("vacuum analyze reward_code")
    await pool.execute("checkpoint")  # the codes that were loaded are on the disk before anything is measured
    reward = await _put_in_force(pool)
    in_process = await _in_process(settings, reward, seconds)
    over_http = await _over_http(pool, settings, seconds)
    wrong = await _wrong(pool, *in_process, *over_http)
    redeemed = sum(len(each.codes) for each in (*in_process, *over_http))
    return [
        *_rates("redemptions of a reward with codes, in the process", in_process, "this process, without Postgres"),
        *_rates("… over HTTP, one process", over_http, "the API, without Postgres"),
        Figure(
            "… each paid once, and each code to one member",
            "; ".join(wrong) or f"{redeemed:,} redemptions, {_REPEATED:.0%} asked for again",
            "",
            "all",
            not wrong,
            anywhere=True,
        ),
    ]


def _rates(what: str, taken: Sequence[_Taken], whose: str) -> Iterator[Figure]:
    """By many callers, and by few."""
    many, few = taken
    yield Figure(
        f"{what}, {CALLERS} callers",
        f"{rate(many.per_s, 'redemptions')}, p99 {many.p99_ms:.0f} ms",
        f"{many.cpu_us:.0f} µs of CPU each, of {whose}",
        f">= {WANTED:,}/s",
        many.per_s >= WANTED,
    )
    yield Figure(
        f"… {FEW_CALLERS} callers",
        f"{rate(few.per_s, 'redemptions')}, p99 {few.p99_ms:.0f} ms",
        f"{few.per_s / many.per_s:.2f} of those by {CALLERS}; {few.cpu_us:.0f} µs of CPU each",
    )


async def _in_process(settings: Settings, reward: Reward, seconds: float) -> list[_Taken]:
    clock = SystemClock()
    pool = await open_pool(
        settings.required("database_url"), size=_CONNECTIONS, keeps_nothing=True, settings=LOOKUPS_BY_KEY
    )
    book = CardBook(await CardStore(pool).all())
    moves = PostgresMoves(pool, clock)
    deliveries = Deliveries(pool, moves, lambda: book, clock)
    redeemer = Redeemer(
        RedemptionRows(pool), moves, lambda _: reward.limits, lambda: book, clock, deliveries=deliveries
    )
    desk = RedemptionDesk(
        pool,
        clock,
        redeemer,
        deliveries,
        offered=lambda: {reward.name: Offered(reward, RewardPublications(clock.now()))},
        book=lambda: book,
        segments=_in_none,
        facts=FactRegistry(),
        secrets=Secrets.of(settings.secrets_key),
    )
    rich = {_PROGRAM: Standing(reward.country, "member", 10**9, 10**9)}

    async def redeem(key: str, member: str) -> str:
        found = await desk.redeem(Ask(f"api:acme:{key}", member, _NAME, 1, None, _PARTNER), rich)
        (code,) = await desk.codes(found)
        return code

    try:
        await _redeemed([redeem] * CALLERS, "warm", seconds / 2)
        return [await _redeemed([redeem] * callers, f"desk-{callers}", seconds) for callers in (CALLERS, FEW_CALLERS)]
    finally:
        await redeemer.close()
        await pool.close()


async def _in_none(pairs: Collection[Pair]) -> Mapping[Pair, bool]:
    return dict.fromkeys(pairs, False)


async def _over_http(pool: Pool, settings: Settings, seconds: float) -> list[_Taken]:
    key = await entered_partner(pool, awards=True, may_spend=True)
    async with AsyncExitStack() as stack:
        port = free_port()
        process = await stack.enter_async_context(worker("api", settings.model_copy(update={"api_port": port})))
        await is_up(port)
        callers = [await _caller(stack, port, key) for _ in range(CALLERS)]
        await _redeemed(callers, "warm-http", seconds / 2, process.pid)
        return [
            await _redeemed(callers[:some], f"http-{some}", seconds, process.pid) for some in (CALLERS, FEW_CALLERS)
        ]


async def _caller(stack: AsyncExitStack, port: int, key: str) -> Redeem:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    stack.callback(writer.close)

    async def redeem(name: str, member: str) -> str:
        path, once = f"/v1/members/{member}/redemptions", f"idempotency-key: {name}\r\n"
        answer: Any = json.loads(await exchange(reader, writer, request("POST", path, key, {"reward": _NAME}, once)))
        return str(answer["code"])

    return redeem


async def _redeemed(callers: Sequence[Redeem], mark: str, seconds: float, pid: int | None = None) -> _Taken:
    """Each caller redeems the next when its last is answered; now and then it asks for one of its own again. The
    process that redeems is this one, or that of the id.
    """
    rng, numbers = random.Random(mark), count()
    latencies: list[float] = []
    codes: dict[str, str] = {}
    other: list[str] = []
    began, cpu = time.perf_counter(), _cpu_s(pid)

    async def work(redeem: Redeem) -> None:
        mine: list[tuple[str, str]] = []
        while time.perf_counter() - began < seconds:
            if mine and rng.random() < _REPEATED:
                key, member = rng.choice(mine)
                if await redeem(key, member) != codes[key]:
                    other.append(key)
                continue
            key, member = f"{mark}-{next(numbers)}", f"m{rng.randrange(MEMBERS)}"
            asked_at = time.perf_counter()
            codes[key] = await redeem(key, member)
            latencies.append(time.perf_counter() - asked_at)
            mine.append((key, member))

    await asyncio.gather(*map(work, callers))
    return _Taken(time.perf_counter() - began, _cpu_s(pid) - cpu, latencies, codes, other)


def _cpu_s(pid: int | None) -> float:
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


async def _put_in_force(pool: Pool) -> Reward:
    now = datetime.now(UTC)
    document = {
        "name": _NAME,
        "country": "SG",
        "timezone": "Asia/Singapore",
        "starts_at": (now - timedelta(days=1)).isoformat(),
        "ends_at": (now + timedelta(days=30)).isoformat(),
        "texts": {"en": {"title": "A coffee"}},
        "price": {"points": 500},
        "delivery": {"pool": POOL},
        "limits": {"uses": {"overall": 10_000_000}},
    }
    store, around, by = RewardStore(pool), await reward_publications(pool, now), "bench:author"
    (draft,) = await store.draft([parse_reward(document, around)], around, Change(by, now))
    await store.submit(draft.name, around, Change(by, now))
    await store.approve(draft.name, draft.version, around, Change(by, now, approved_by="bench:approver"))
    return parse_reward(document, around).numbered(draft.version)


async def _wrong(pool: Pool, *taken: _Taken) -> list[str]:
    """What was given twice, or not at all."""
    wrong = [f"{key} was given another code" for each in taken for key in each.other]
    codes = [code for each in taken for code in each.codes.values()]
    if len(set(codes)) < len(codes):
        wrong.append(f"{len(codes) - len(set(codes)):,} codes were given twice")
    books = await reward_books(pool)
    wrong += [f"{each.about}: {each.fault}" for each in books.faults]
    row = await pool.fetchrow(_GIVEN)
    if row["codes"] != row["redemptions"] or row["codes"] != books.redemptions:
        wrong.append(f"{books.redemptions:,} redemptions, {row['codes']:,} codes of {row['redemptions']:,}")
    return wrong
