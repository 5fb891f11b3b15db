"""Requests of partners: noted so many a second, kept while the database is away, found by their id, and forgotten."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from abacus.core.errors import Unavailable
from abacus.intake.partners.metrics import REQUESTS_NOT_NOTED
from abacus.intake.partners.requests.journal import A_SECOND, KEPT, RequestJournal
from abacus.intake.partners.requests.store import RequestStore
from abacus.intake.partners.requests.types import Earlier, Noted
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from tests.support.awards import NOW
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once


def noted(number: int, *, partner_id: str = "acme", status: int = 202, request_id: str | None = None) -> Noted:
    problem = "budget-exhausted" if status >= 400 else None
    at = NOW + timedelta(seconds=number)
    return Noted(
        partner_id,
        at,
        UUID(int=abs(number)),
        request_id or f"r{number}",
        "live",
        *("POST", "/v1/awards", status, 0.004),
        *(problem, problem and "40 of the budget are left"),
    )


class Away(RequestStore):
    """A database that is away for so many writes."""

    def __init__(self, pool: Pool, writes: int) -> None:
        super().__init__(pool)
        self._left = writes

    async def add(self, noted: Sequence[Noted]) -> None:
        self._left -= 1
        if self._left >= 0:
            raise Unavailable("database", "away")
        await super().add(noted)


async def test_the_newest_come_first_a_page_at_a_time(pool: Pool) -> None:
    store = RequestStore(pool)
    rows = [noted(number, status=403 if number % 3 == 0 else 202) for number in range(1, 10)]
    await store.add([*rows, noted(3, partner_id="zest")])
    await store.add(rows[:4])
    first = await store.latest("acme", refused=False, limit=4)
    assert list(first) == rows[:4:-1]
    before = Earlier(first[-1].at, first[-1].noted_id)
    assert list(await store.latest("acme", refused=False, limit=9, before=before)) == rows[4::-1]
    refused = await store.latest("acme", refused=True, limit=9)
    assert [each.request_id for each in refused] == ["r9", "r6", "r3"]
    assert all(each.is_refused for each in refused)


async def test_a_name_that_is_used_twice_is_found_twice_and_only_with_its_partner(pool: Pool) -> None:
    store = RequestStore(pool)
    await store.add([noted(n, request_id="mine", partner_id=p) for n, p in ((1, "acme"), (2, "zest"), (3, "acme"))])
    assert [each.noted_id.int for each in await store.named("acme", "mine", limit=9)] == [3, 1]
    assert await store.named("acme", "r1", limit=9) == []


async def test_of_each_sort_so_many_a_second_are_noted(pool: Pool) -> None:
    clock, before = FixedClock(NOW), total(REQUESTS_NOT_NOTED)
    journal = RequestJournal(RequestStore(pool), clock)
    taken = [journal.takes_one(refused=refused) for refused in [True] * (A_SECOND + 2) + [False] * (A_SECOND + 1)]
    assert [each is not None for each in taken] == [True] * A_SECOND + [False] * 2 + [True] * A_SECOND + [False]
    assert total(REQUESTS_NOT_NOTED) - before == 3
    clock.set(NOW + timedelta(seconds=1))
    assert journal.takes_one(refused=True) == clock.now()


async def test_they_wait_for_the_database_up_to_a_bound(pool: Pool) -> None:
    store, clock = Away(pool, 2), FixedClock(NOW)
    journal = RequestJournal(store, clock)
    for second in range(150):
        clock.set(NOW + timedelta(seconds=second))
        for _ in range(A_SECOND):
            if (at := journal.takes_one(refused=True)) is not None:
                journal.note(noted(1)._replace(at=at, noted_id=uuid4()))
    for _ in range(2):
        await journal.write()
        assert await pool.fetchval("select count(*) from partner_request") == 0
    await journal.write()
    assert await pool.fetchval("select count(*) from partner_request") == 1000
    assert journal.takes_one(refused=True) is not None


async def test_old_ones_are_forgotten_and_new_ones_are_not(pool: Pool) -> None:
    store, clock = RequestStore(pool), FixedClock(NOW + KEPT)
    await store.add([noted(-1), noted(1)])
    await RequestJournal(store, clock).write()
    assert [each.request_id for each in await store.latest("acme", refused=False, limit=9)] == ["r1"]
