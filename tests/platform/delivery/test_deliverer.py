"""The loop that delivers, on each table: its order, the claims that a bug or a stop leaves, and its counts."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable
from abacus.platform.delivery.decide.schedule import Schedule
from abacus.platform.delivery.deliverer import Deliverer, Deliveries, Periodic
from abacus.platform.delivery.types import Answer, Claim, Concurrency, DeliveryOutcome, Room, Said, Settled
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.postgres import Pool
from tests.support.delivery_tables import ACME, CLOCK, DOWN, RECEIVERS, SLOW, UP, Table
from tests.support.house import until

ACCEPTED = Answer(Said.ACCEPTED)
MANY = Concurrency(at_once=50)
Attempt = Callable[[Claim], Awaitable[Answer]]


def in_an_hour(_claim: Claim, now: datetime) -> datetime:
    return now + timedelta(hours=1)


class Delivering:
    """A deliverer at work, and its reports."""

    def __init__(self, deliveries: Deliveries[Any], attempt: Attempt, concurrency: Concurrency) -> None:
        self.stop = asyncio.Event()
        self.health = WorkerHealth("deliverer")
        self.settled: list[Settled[Any]] = []
        self.periods = 0
        deliverer = Deliverer(
            deliveries,
            attempt,
            Schedule[Any](Backoff(first_s=0.02, longest_s=0.05), in_an_hour, random.Random(1)),
            concurrency,
            clock=CLOCK,
            health=self.health,
            on_settled=self.settled.append,
            periodically=[Periodic(self._count, 3600)],
        )
        self.task = asyncio.create_task(deliverer.run(self.stop))

    async def delivered(self, count: int) -> None:
        async def reached() -> bool:
            return len([each for each in self.settled if each.verdict.outcome is DeliveryOutcome.DELIVERED]) >= count

        await until(reached, within_s=30)

    async def _count(self) -> None:
        self.periods += 1


@asynccontextmanager
async def delivering(
    deliveries: Deliveries[Any], attempt: Attempt, concurrency: Concurrency = MANY
) -> AsyncIterator[Delivering]:
    at_work = Delivering(deliveries, attempt, concurrency)
    try:
        yield at_work
    finally:
        at_work.stop.set()
        await asyncio.gather(at_work.task, return_exceptions=True)


async def accept(_claim: Claim) -> Answer:
    return ACCEPTED


async def test_each_is_delivered_once_however_many_work(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [RECEIVERS[number % 9] for number in range(90)])
    async with (
        delivering(table.deliveries(pool), accept) as first,
        delivering(table.deliveries(pool), accept, Concurrency(at_once=30, batch=10)) as second,
    ):

        async def all_settled() -> bool:
            return len(first.settled) + len(second.settled) >= 90

        await until(all_settled, within_s=30)
    assert sorted(each.claim.id for each in first.settled + second.settled) == ids
    assert all(kept.delivered and kept.attempts == 1 for kept in (await table.stored(pool)).values())
    assert (first.health.state, first.periods) == (WorkerState.READY, 1)


async def test_no_more_are_under_way_than_allowed(pool: Pool, table: Table) -> None:
    await table.enter(pool, RECEIVERS)
    under_way, most = Counter[str](), 0

    async def slowly(claim: Claim) -> Answer:
        nonlocal most
        under_way[claim.id] += 1
        most = max(most, under_way.total())
        await asyncio.sleep(0.02)
        under_way[claim.id] -= 1
        return ACCEPTED

    async with delivering(table.deliveries(pool), slowly, Concurrency(at_once=6, batch=3)) as at_work:
        await at_work.delivered(20)
    assert most == 6


async def test_a_receiver_that_hangs_holds_up_no_other(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [SLOW, *RECEIVERS])
    goes_on = asyncio.Event()

    async def attempt(claim: Claim) -> Answer:
        if claim.receiver == SLOW:
            await goes_on.wait()
        return ACCEPTED

    async with delivering(table.deliveries(pool), attempt, Concurrency(at_once=4)) as at_work:
        await at_work.delivered(20)
        assert ids[0] not in {each.claim.id for each in at_work.settled}
        goes_on.set()
        await at_work.delivered(21)


async def test_one_that_fails_is_tried_again_and_holds_up_no_other(pool: Pool, table: Table) -> None:
    await table.enter(pool, [DOWN, UP, UP])
    answers = {UP: ACCEPTED, DOWN: Answer(Said.FAILED, "no answer")}

    async def attempt(claim: Claim) -> Answer:
        return answers[claim.receiver]

    async with delivering(table.deliveries(pool), attempt) as at_work:
        await at_work.delivered(2)
        await until(lambda: _attempted(at_work, DOWN, 3), within_s=30)
        answers[DOWN] = ACCEPTED
        await at_work.delivered(3)
    reasons = [each.verdict.reason for each in at_work.settled if each.claim.receiver == DOWN]
    assert set(reasons[:-1]) == {"no answer"}
    assert reasons[-1] is None


async def _attempted(at_work: Delivering, receiver: str, count: int) -> bool:
    return len([each for each in at_work.settled if each.claim.receiver == receiver]) >= count


async def test_a_bug_in_one_attempt_leaves_it_for_later_and_holds_up_no_other(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [ACME] * 5)
    broken = {ids[0]}

    async def attempt(claim: Claim) -> Answer:
        if claim.id in broken:
            raise ZeroDivisionError
        return ACCEPTED

    async with delivering(table.deliveries(pool), attempt) as at_work:
        await at_work.delivered(4)
        broken.clear()
        await table.end_leases(pool)
        await at_work.delivered(5)
    assert (await table.stored(pool))[ids[0]].attempts == 2


Fault = Callable[[Sequence[Settled[Any]]], Exception | None]


class _Wrapped:
    """A table whose settling fails as the test says."""

    def __init__(
        self, deliveries: Deliveries[Any], fault: Callable[[Sequence[Settled[Any]]], Exception | None]
    ) -> None:
        self._deliveries = deliveries
        self._fault = fault

    async def take(self, room: Room) -> Sequence[Any]:
        return await self._deliveries.take(room)

    async def settle(self, settled: Sequence[Settled[Any]]) -> None:
        fault = self._fault(settled)
        if fault is not None:
            raise fault
        await self._deliveries.settle(settled)


async def test_a_verdict_that_cannot_be_written_holds_up_no_other(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [ACME] * 12)

    def fault(settled: Sequence[Settled[Any]]) -> Exception | None:
        return (
            ValueError("a character that cannot be stored") if ids[3] in {each.claim.id for each in settled} else None
        )

    async with delivering(_Wrapped(table.deliveries(pool), fault), accept) as at_work:
        await at_work.delivered(11)
    stored = await table.stored(pool)
    assert [id_ for id_ in ids if not stored[id_].delivered] == [ids[3]]


async def test_while_the_table_is_away_what_was_attempted_is_kept(pool: Pool, table: Table) -> None:
    await table.enter(pool, [ACME] * 3)
    attempted, faults = list[str](), [Unavailable("database", "away")] * 2

    def fault(_settled: Sequence[Settled[Any]]) -> Exception | None:
        return faults.pop() if faults else None

    async def attempt(claim: Claim) -> Answer:
        attempted.append(claim.id)
        return ACCEPTED

    async with delivering(_Wrapped(table.deliveries(pool), fault), attempt) as at_work:
        await at_work.delivered(3)
        assert at_work.health.state is WorkerState.READY
    assert len(attempted) == len(set(attempted)) == 3


async def test_told_to_stop_it_finishes_what_is_under_way(pool: Pool, table: Table) -> None:
    await table.enter(pool, [ACME] * 3)
    under_way, goes_on = asyncio.Semaphore(0), asyncio.Event()

    async def attempt(_claim: Claim) -> Answer:
        under_way.release()
        await goes_on.wait()
        return ACCEPTED

    async with delivering(table.deliveries(pool), attempt) as at_work:
        for _ in range(3):
            await under_way.acquire()
        at_work.stop.set()
        await asyncio.sleep(0.05)
        assert not at_work.task.done()
        goes_on.set()
        await at_work.task
    assert all(kept.delivered for kept in (await table.stored(pool)).values())


async def test_cut_off_it_leaves_what_is_under_way_to_the_next(pool: Pool, table: Table) -> None:
    ids = await table.enter(pool, [ACME] * 3)
    under_way = asyncio.Semaphore(0)

    async def attempt(_claim: Claim) -> Answer:
        under_way.release()
        await asyncio.Event().wait()
        return ACCEPTED

    async with delivering(table.deliveries(pool), attempt) as at_work:
        for _ in range(3):
            await under_way.acquire()
        at_work.task.cancel()
        await asyncio.wait((at_work.task,))
    await table.end_leases(pool)
    async with delivering(table.deliveries(pool), accept) as next_one:
        await next_one.delivered(3)
    assert sorted(each.claim.id for each in next_one.settled) == ids
