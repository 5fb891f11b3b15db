"""A fresh copy serves the rows that were read last, whatever happens to the table."""

import asyncio
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeAlias

import pytest
from structlog.testing import capture_logs

from abacus.core.errors import Unavailable
from abacus.platform.fresh_copy import Cadence, FreshCopy
from tests.support.soon import soon


class Row(NamedTuple):
    name: str
    version: int


Rows: TypeAlias = list[Row]
Copy: TypeAlias = FreshCopy[Rows, Mapping[str, Row]]


class Table:
    """Rows that can be away or stuck; it counts how often they are read. A row that is known is not read again."""

    def __init__(self, **versions: int) -> None:
        self.versions = versions
        self.is_away = False
        self.goes_on = asyncio.Event()
        self.goes_on.set()
        self.reads = 0

    async def load(self, before: Rows | None) -> Rows:
        self.reads += 1
        await self.goes_on.wait()
        if self.is_away:
            raise Unavailable("database", "connection refused")
        known = {(row.name, row.version): row for row in before or ()}
        return [known.get(each) or Row(*each) for each in self.versions.items()]


class Hands:
    """A monotonic clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


def copy_of(load: Callable[[Rows | None], Awaitable[Rows]], **cadence: Any) -> Copy:
    return FreshCopy("things", load, by_name, Cadence(refresh_every_s=0.001)._replace(**cadence))


def by_name(rows: Rows) -> Mapping[str, Row]:
    return {row.name: row for row in rows}


@asynccontextmanager
async def kept_fresh(copy: Copy) -> AsyncIterator[None]:
    task = asyncio.create_task(copy.keep_fresh())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled()


async def test_nothing_is_served_before_anything_was_read() -> None:
    copy = copy_of(Table(a=1).load)
    assert copy.age_s == math.inf
    with pytest.raises(Unavailable, match="things unavailable: not read yet"):
        copy.value()
    await copy.refresh()
    assert copy.value() == {"a": Row("a", 1)}


async def test_an_empty_table_is_a_table() -> None:
    copy = copy_of(Table().load)
    await copy.refresh()
    assert copy.value() == {}


async def test_the_copy_outlives_the_table() -> None:
    table, clock = Table(a=1), Hands()
    copy = copy_of(table.load, monotonic=clock)
    await copy.refresh()
    value = copy.value()
    table.is_away = True
    clock.at += 3600
    with pytest.raises(Unavailable, match="database unavailable: connection refused"):
        await copy.refresh()
    assert copy.value() is value
    assert copy.age_s == 3600
    table.is_away, table.versions = False, {"b": 1}
    await copy.refresh()
    assert (list(copy.value()), copy.age_s) == (["b"], 0)


async def test_what_has_not_changed_stays_the_same_object() -> None:
    table = Table(a=1, b=1)
    copy = copy_of(table.load)
    await copy.refresh()
    before = copy.value()
    await copy.refresh()
    assert copy.value() is before
    table.versions = {"a": 1, "b": 2}
    await copy.refresh()
    after = copy.value()
    assert after["a"] is before["a"]
    assert after["b"] == Row("b", 2)


async def test_a_table_that_is_stuck_does_not_hold_the_caller() -> None:
    table = Table(a=1)
    copy = copy_of(table.load, load_within_s=0.01)
    table.goes_on.clear()
    with pytest.raises(Unavailable, match=r"things unavailable: not read within 0\.01 s"):
        await copy.refresh()
    with pytest.raises(Unavailable, match=r"not read within 0\.01 s"):
        copy.value()
    table.goes_on.set()
    await copy.refresh()
    assert copy.value() == {"a": Row("a", 1)}


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Unavailable("database", "gone"), "things unavailable: database unavailable: gone"),
        (Unavailable("things", "nobody has made one"), "things unavailable: nobody has made one"),
    ],
)
async def test_the_first_reading_says_why_it_failed(error: Unavailable, why: str) -> None:
    async def load(_: Rows | None) -> Rows:
        raise error

    copy = copy_of(load)
    for _ in range(2):  # the second so soon that nothing is read
        with pytest.raises(Unavailable) as raised:
            await copy.look_again()
        assert str(raised.value) == why


async def test_looking_again_reads_once_in_a_while_however_many_look() -> None:
    table, clock = Table(a=1), Hands()
    copy = copy_of(table.load, monotonic=clock, look_again_every_s=1.0)
    await copy.refresh()
    table.versions = {"a": 2}
    clock.at += 0.9
    await copy.look_again()
    assert (table.reads, copy.value()["a"].version) == (1, 1)
    clock.at += 0.1
    await asyncio.gather(*(copy.look_again() for _ in range(50)))
    assert (table.reads, copy.value()["a"].version) == (2, 2)


async def test_looking_again_while_the_table_is_away_serves_the_copy() -> None:
    table, clock = Table(a=1), Hands()
    copy = copy_of(table.load, monotonic=clock)
    await copy.refresh()
    table.is_away = True
    for wait in (False, True):
        clock.at += 1
        await copy.look_again(wait=wait)
    assert (table.reads, copy.value()) == (3, {"a": Row("a", 1)})


async def test_looking_again_may_wait_for_a_reading_that_begins_later() -> None:
    table = Table(a=1)
    copy = copy_of(table.load)
    await copy.refresh()
    for version in (2, 3):
        table.versions = {"a": version}
        await asyncio.gather(*(copy.look_again(wait=True) for _ in range(50)))
        assert (table.reads, copy.value()["a"].version) == (version, version)


async def test_those_who_look_while_it_is_read_share_the_next_reading() -> None:
    table = Table(a=1)
    table.goes_on.clear()
    copy = copy_of(table.load, look_again_every_s=0)
    looking = [asyncio.create_task(copy.look_again(wait=True))]
    await soon(lambda: table.reads == 1)
    looking += [asyncio.create_task(copy.look_again(wait=True)) for _ in range(50)]
    await asyncio.sleep(0.01)
    table.goes_on.set()
    await asyncio.gather(*looking)
    assert table.reads == 2


async def test_keeping_fresh_says_once_that_it_fails_and_once_that_it_recovered() -> None:
    table = Table(a=1)
    copy = copy_of(table.load, rng=random.Random(1))
    with capture_logs() as logs:
        async with kept_fresh(copy):
            await soon(lambda: table.reads >= 3)
            table.is_away, seen = True, table.reads
            await soon(lambda: table.reads >= seen + 5)
            assert copy.value() == {"a": Row("a", 1)}
            table.is_away, table.versions, seen = False, {"a": 1, "b": 1}, table.reads
            await soon(lambda: table.reads >= seen + 5)
            assert list(copy.value()) == ["a", "b"]
    assert [(line["log_level"], line["event"]) for line in logs] == [
        ("warning", "things cannot be read"),
        ("info", "things can be read again"),
    ]
    assert logs[0]["serving"]


async def test_keeping_fresh_starts_while_the_table_is_away() -> None:
    table = Table(a=1)
    table.is_away = True
    copy = copy_of(table.load)
    async with kept_fresh(copy):
        await soon(lambda: table.reads >= 3)
        table.is_away = False
        await soon(lambda: copy.age_s < math.inf)
        assert copy.value() == {"a": Row("a", 1)}


async def test_a_mistake_of_ours_is_not_taken_for_an_outage() -> None:
    async def broken(_: Rows | None) -> Rows:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await copy_of(broken).keep_fresh()
