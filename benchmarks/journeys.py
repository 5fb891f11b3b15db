"""A herd in a journey, due at once: in packs, beside a row for each member and branch, and with few others amid it."""

import asyncio
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import psutil

from abacus.core.errors import Unavailable
from abacus.engage.journeys.decide.packs import LARGEST
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.process import look_for_garbage_seldom
from benchmarks.journey_classic import Classic
from benchmarks.journey_herd import BRANCHES, Cost, Herd, Meter, Running, Segments
from benchmarks.report import Figure, rate

MEMBERS: Final = 10_000_000
_CLASSIC: Final = "classic"
_CLASSIC_SINGLY: Final = "classic_singly"
_HELD: Final = "herd_held"
_COMPARED: Final = 100_000  # members whose steps are measured beside few and many others
_CLASSICALLY: Final = 100_000  # members who go the classic way
_ALONE: Final = 1_000  # of these, in a transaction for each row
_BATCH: Final = 500  # rows
_ROUNDS: Final = 3  # of members who are compared
_SINGLY: Final = 10_000  # in packs of their own
_TEN: Final = 10
_AMID: Final = 40  # times that ten others are due while the herd is run
_PACKS: Final = 1.02  # for each five hundred members
_CLASSIC_TIMES: Final = 20
_FLAT: Final = 1.3
_WITHIN_S: Final = 1.0
_SCHEDULED_S, _RAN_S = 60, 150  # of CPU, for ten million
_STEPS: Final = 20_000  # a second
_HALF: Final = _STEPS // 2
_FLOWING: Final = 50  # members of a pack
_FLOW_S: Final = 20.0
_FLOWS_WITHIN_S: Final = 2.0
_MEMORY_MIB: Final = 300
_DEAD: Final = 0.02  # rows a member
_DONE: Final = "select count(*) from action where owner = $1"
_MORNING: Final = "update pack set due = due - interval '2 days' where journey = $1"
_ROWS: Final = "select sum(n_dead_tup) from pg_stat_user_tables where relname in ('pack', 'journey_deed')"


async def measure(directory: Path, members: int) -> list[Figure]:
    look_for_garbage_seldom()  # as workers do
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, sqs=False, kafka=False))
        url = embedded.database_url or ""
        await migrate(url)
        pool = await open_pool(url, size=6, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
        owner = await open_pool(url, size=4, role=None)
        stack.push_async_callback(pool.close)
        stack.push_async_callback(owner.close)
        return await _Bench(url, pool, owner, await Meter.of(owner), members).figures()


class _Bench:
    """One after the other, in one database."""

    def __init__(self, url: str, pool: Pool, owner: Pool, meter: Meter, members: int) -> None:
        self._url = url
        self._owner = owner
        self._meter = meter
        self._members = members
        self._compared = min(members, _COMPARED)
        few = [f"few_{number}" for number in range(_AMID)]
        compared = [f"{beside}_{round_}" for beside in ("alone", "beside") for round_ in range(_ROUNDS)]
        self._segments = Segments(members)
        journeys = ["warm", "clean", "held", "flow", _CLASSIC, _CLASSIC_SINGLY, *compared, *few, "herd"]
        self._running = Running(pool, self._segments, journeys)
        self._few_journeys = few

    async def figures(self) -> list[Figure]:
        dead = await self._dead()
        await self._through("warm", min(self._compared, 10_000))
        alone, unfolding = await self._rounds("alone")
        classic = await self._classic(_CLASSIC, _CLASSICALLY, _BATCH)
        in_turn = await self._classic(_CLASSIC_SINGLY, _ALONE, 1)
        singly, flown = await self._singly(), await self._flow()
        herd = self._herd("herd", range(self._members))
        await herd.sit()
        await herd.wait()
        scheduling = await self._meter.cost(self._members, herd.run())
        packs = await herd.left()
        beside, _ = await self._rounds("beside")
        await herd.make_due()
        few, amid = await self._few(), list[float]()
        running = await self._meter.cost(self._members, self._amid(herd, few, amid))
        await self._check(herd)
        return [
            *_of_herd(packs, scheduling, running, amid),
            _unfolded(unfolding),
            *_classically(alone, unfolding, classic, in_turn),
            *_compared(alone, beside, singly),
            *_steps(scheduling, flown, dead),
        ]

    def _herd(self, journey: str, members: range) -> Herd:
        return Herd(self._running, self._owner, journey, members)

    async def _rounds(self, beside: str) -> tuple[Cost, Cost]:
        """The medians of some herds, one after the other."""
        costs = [await self._through(f"{beside}_{round_}", self._compared) for round_ in range(_ROUNDS)]
        moving, unfolding = zip(*costs, strict=True)
        return _median(moving), _median(unfolding)

    async def _through(self, journey: str, members: int) -> tuple[Cost, Cost]:
        """A herd that waits once and ends, others beside it or not; and what was done becomes actions."""
        herd = self._herd(journey, range(members))
        await herd.sit()
        await herd.wait()
        scheduling = await self._meter.cost(members, herd.run())
        await herd.make_due()
        running = await self._meter.cost(members, herd.run())
        await self._check(herd)
        unfolding = await self._meter.cost(members, herd.unfold())
        done = await self._owner.fetchval(_DONE, journey, timeout=3600)
        if done != members:
            raise Unavailable("journeys", f"{done:,} of {members:,} effects are actions")
        return scheduling.plus(running), unfolding

    async def _classic(self, journey: str, most: int, at_once: int) -> Cost:
        members = range(min(self._members, most))
        await self._herd(journey, members).sit()
        classic = Classic(self._running, self._owner, journey, members)
        await classic.wait()
        return await self._meter.cost(len(members), classic.run(at_once))

    async def _singly(self) -> tuple[Cost, Cost]:
        """Members in packs of their own, without and with a transaction that is open elsewhere."""
        costs = []
        for journey in ("clean", "held"):
            herd = self._herd(journey, range(min(self._members, _SINGLY)))
            await herd.sit()
            await herd.wait(largest=1)
            async with self._owner.acquire() as connection, connection.transaction(isolation="repeatable_read"):
                if journey == "held":
                    await connection.fetchval("select count(*) from pack")
                costs.append(await self._meter.cost(len(herd.members), herd.run()))
        return costs[0], costs[1]

    async def _dead(self) -> tuple[int, int]:
        """A herd, its members, and the rows of packs and deeds that are left of it while a transaction is open."""
        async with self._owner.acquire() as connection, connection.transaction(isolation="repeatable_read"):
            before = int(await connection.fetchval(_ROWS))
            async with AsyncExitStack() as stack:  # sessions tell Postgres of dead rows at their end at the latest
                pool = await open_pool(self._url, size=6, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
                owner = await open_pool(self._url, size=4, role=None)
                stack.push_async_callback(pool.close)
                stack.push_async_callback(owner.close)
                herd = Herd(Running(pool, self._segments, [_HELD]), owner, _HELD, range(self._compared))
                await herd.sit()
                await herd.wait()
                await herd.run()
                await owner.execute(_MORNING, herd.journey)
                await herd.run()
                await herd.unfold()
            await connection.execute("select pg_stat_clear_snapshot()")
            dead = int(await connection.fetchval(_ROWS)) - before
        return self._compared, dead

    async def _flow(self) -> list[float]:
        seconds = max(2.0, min(_FLOW_S, self._members / _HALF))
        herd = self._herd("flow", range(int(seconds * _HALF)))
        await herd.sit()
        return await herd.flow(seconds, _HALF, _FLOWING)

    async def _few(self) -> list[Herd]:
        few = [
            self._herd(journey, range(number * _TEN, (number + 1) * _TEN))
            for number, journey in enumerate(self._few_journeys)
        ]
        for each in few:
            await each.sit()
        return few

    async def _amid(self, herd: Herd, few: Sequence[Herd], seconds: list[float]) -> None:
        """Ten members of another journey are due, again and again, until the herd is through."""
        running = asyncio.ensure_future(herd.run(*(each.journey for each in few)))
        for each in few:
            if running.done():
                break
            await each.wait()
            began = time.perf_counter()
            while await self._waits(each) and not running.done():  # noqa: ASYNC110  # the database knows
                await asyncio.sleep(0.01)
            seconds.append(time.perf_counter() - began)
        await running

    async def _waits(self, herd: Herd) -> bool:
        """Whether a member's time has not come yet to this process."""
        due = "select exists(select from pack where journey = $1 and due < now())"
        return bool(await self._owner.fetchval(due, herd.journey))

    async def _check(self, herd: Herd) -> None:
        """Each effect is there once, and nobody is left."""
        done = await herd.decided()
        if done != len(herd.members) or await herd.left():
            raise Unavailable("journeys", f"{done:,} of {len(herd.members):,} effects are there")


def _of_herd(packs: int, scheduling: Cost, running: Cost, amid: list[float]) -> list[Figure]:
    members = scheduling.members
    slowest = sorted(amid)[-1 - len(amid) // 100] if amid else 0.0
    full = members / LARGEST * _PACKS + 1
    return [
        Figure(
            f"{members:,} members before {BRANCHES} branches, due at once",
            f"{packs:,} packs",
            f"{members * BRANCHES / packs:,.0f} branches of members each",
            f"<= {full:,.0f}",
            packs <= full,
            anywhere=True,
        ),
        Figure(
            "… scheduled, from the wait before",
            f"{scheduling.cpu_s:.1f} s of CPU",
            _shares(scheduling),
            f"<= {_SCHEDULED_S * members / MEMBERS:.2f} s",
            scheduling.cpu_s <= _SCHEDULED_S * members / MEMBERS,
        ),
        Figure(
            "… run to the end, until all effects are entered and all seats are left",
            f"{running.cpu_s:.1f} s of CPU",
            _shares(running),
            f"<= {_RAN_S * members / MEMBERS:.2f} s",
            running.cpu_s <= _RAN_S * members / MEMBERS,
        ),
        Figure(
            f"… {_TEN} members of another journey due meanwhile, {len(amid)} times: until they went on, median and p99",
            f"{statistics.median(amid or [0]) * 1e3:.0f} and {slowest * 1e3:.0f} ms",
            "one process runs both",
            f"p99 <= {_WITHIN_S * 1e3:.0f} ms",
            slowest <= _WITHIN_S,
        ),
    ]


def _unfolded(unfolding: Cost) -> Figure:
    return Figure(
        f"what was decided for {unfolding.members:,} of them becomes an action for each",
        f"{unfolding.us:.1f} µs of CPU a member",
        _shares(unfolding),
    )


def _median(costs: Sequence[Cost]) -> Cost:
    return sorted(costs, key=lambda each: each.us)[len(costs) // 2]


def _classically(alone: Cost, unfolding: Cost, classic: Cost, in_turn: Cost) -> list[Figure]:
    both = alone.us + unfolding.us
    return [
        Figure(
            f"{classic.members:,} members with a row for each member and branch, {_BATCH} rows in a transaction",
            f"{classic.us:.0f} µs of CPU a member",
            f"{classic.us / alone.us:.1f} times that in packs, {alone.us:.1f} µs; {classic.us / both:.1f} times with "
            f"what makes actions of it",
            f">= {_CLASSIC_TIMES} times",
            classic.us >= _CLASSIC_TIMES * alone.us,
        ),
        Figure(
            f"… {in_turn.members:,} members, a transaction for each row",
            f"{in_turn.us:.0f} µs of CPU a member",
            f"{in_turn.us / alone.us:.0f} times that in packs; {in_turn.us / both:.0f} times with what makes actions",
            f">= {_CLASSIC_TIMES} times",
            in_turn.us >= _CLASSIC_TIMES * alone.us,
        ),
    ]


def _compared(alone: Cost, beside: Cost, singly: tuple[Cost, Cost]) -> list[Figure]:
    clean, held = singly
    return [
        Figure(
            "a step of a member while the herd waits",
            f"{beside.us / 2:.1f} µs of CPU",
            f"{beside.us / alone.us:.2f} times that without the herd",
            f"<= {_FLAT} times",
            beside.us <= _FLAT * alone.us,
        ),
        Figure(
            f"a step of a member in a pack of its own, {held.members:,} while a transaction elsewhere is open",
            f"{held.us:.0f} µs of CPU",
            f"{held.us / clean.us:.2f} times that without; a dead row for each pack",
            f"<= {_FLAT} times",
            held.us <= _FLAT * clean.us,
        ),
    ]


def _steps(steps: Cost, late_s: Sequence[float], dead: tuple[int, int]) -> list[Figure]:
    rate_, (members, rows) = steps.members / steps.seconds, dead
    slowest = sorted(late_s)[-1 - len(late_s) // 100]
    memory = psutil.Process().memory_info().rss >> 20
    return [
        Figure(
            "steps of members, one process beside Postgres",
            rate(rate_, "steps"),
            f"{steps.us:.1f} µs of CPU each",
            f">= {_STEPS:,}/s",
            rate_ >= _STEPS,
        ),
        Figure(
            f"{_HALF:,} members due each second, in packs of {_FLOWING}: until they were done, median and p99",
            f"{statistics.median(late_s) * 1e3:.0f} and {slowest * 1e3:.0f} ms",
            f"{len(late_s):,} members",
            f"p99 <= {_FLOWS_WITHIN_S * 1e3:.0f} ms",
            slowest <= _FLOWS_WITHIN_S,
        ),
        Figure(
            "memory of the process that moves them, and measures",
            f"{memory} MiB",
            wanted=f"<= {_MEMORY_MIB} MiB",
            reached=memory <= _MEMORY_MIB,
        ),
        Figure(
            f"dead rows of packs and deeds behind {members:,} members, while a transaction elsewhere is open",
            f"{rows:,}",
            f"{members / max(1, rows):,.0f} members each",
            f"<= {members * _DEAD:,.0f}",
            rows <= members * _DEAD,
        ),
    ]


def _shares(cost: Cost) -> str:
    ours, theirs = (each / cost.members * 1e6 for each in (cost.ours, cost.theirs))
    return f"{rate(cost.members / cost.seconds, 'members')}; a member {ours:.1f} µs, in Postgres {theirs:.1f} µs"
