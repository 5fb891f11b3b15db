"""Gathering: the items of a round and their order, the answer to each caller, and the work that a close waits for."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from abacus.platform.gatherer import Gatherer, PendingRequest
from tests.support.soon import soon

GATHER_S = 0.001


class Doubling:
    """Work that doubles numbers. It notes its rounds, and waits while it is held."""

    def __init__(self, *, wrong: frozenset[int] = frozenset(), error: Exception | None = None) -> None:
        self.rounds: list[list[int]] = []
        self.at_once = self.most_at_once = 0
        self.wrong = wrong
        self.error = error
        self.goes_on = asyncio.Event()
        self.goes_on.set()

    async def work(self, together: Sequence[PendingRequest[int, int]]) -> None:
        self.rounds.append([waiting.request for waiting in together])
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.goes_on.wait()
            for waiting in together:
                if waiting.request in self.wrong:
                    waiting.refuse(ValueError(waiting.request))
                elif self.error is None or waiting.request % 2:
                    waiting.answer(2 * waiting.request)
            if self.error is not None:
                raise self.error
        finally:
            self.at_once -= 1


def gatherer(work: Doubling, **limits: Any) -> Gatherer[int, int]:
    return Gatherer(work.work, gather_s=GATHER_S, **limits)


async def answers_of(gathering: Gatherer[int, int], count: int) -> list[int | BaseException]:
    return await asyncio.gather(*(gathering.ask(number) for number in range(count)), return_exceptions=True)


@pytest.mark.parametrize(
    ("most_together", "expected"),
    [
        (None, [[0, 1, 2, 3, 4, 5, 6]]),
        (7, [[0, 1, 2, 3, 4, 5, 6]]),
        (3, [[0, 1, 2], [3, 4, 5], [6]]),
        (1, [[0], [1], [2], [3], [4], [5], [6]]),
    ],
)
@pytest.mark.parametrize("at_once", [None, 1, 2])
async def test_requests_are_gathered_in_order(
    most_together: int | None, at_once: int | None, expected: list[list[int]]
) -> None:
    work = Doubling()
    gathering = gatherer(work, most_together=most_together, at_once=at_once)
    assert await answers_of(gathering, 7) == [0, 2, 4, 6, 8, 10, 12]
    assert work.rounds == expected


@pytest.mark.parametrize(("at_once", "expected"), [(1, 1), (2, 2), (None, 4)])
async def test_so_many_rounds_are_worked_on_at_a_time(at_once: int | None, expected: int) -> None:
    work = Doubling()
    work.goes_on.clear()
    gathering = gatherer(work, most_together=1, at_once=at_once)
    asking = asyncio.ensure_future(answers_of(gathering, 4))
    await soon(lambda: len(work.rounds) >= expected)
    await asyncio.sleep(10 * GATHER_S)
    assert (len(work.rounds), gathering.waiting) == (expected, 4 - expected)
    work.goes_on.set()
    assert await asking == [0, 2, 4, 6]
    assert work.most_at_once == expected


async def test_what_arrives_while_all_turns_are_taken_is_gathered_meanwhile() -> None:
    work = Doubling()
    work.goes_on.clear()
    gathering = gatherer(work, at_once=1)
    first = asyncio.create_task(gathering.ask(1))
    await soon(lambda: work.rounds == [[1]])
    later = []
    for number in (2, 3):
        later.append(asyncio.create_task(gathering.ask(number)))
        await asyncio.sleep(5 * GATHER_S)
    work.goes_on.set()
    assert await asyncio.gather(first, *later) == [2, 4, 6]
    assert work.rounds == [[1], [2, 3]]


async def test_a_round_takes_what_has_come_until_there_is_room_for_it() -> None:
    room, work = asyncio.Lock(), Doubling()

    @asynccontextmanager
    async def in_room() -> AsyncIterator[None]:
        async with room:
            yield

    gathering = gatherer(work, at_once=1, room=in_room)
    async with room:
        asking = [asyncio.create_task(gathering.ask(1))]
        await asyncio.sleep(5 * GATHER_S)
        asking.append(asyncio.create_task(gathering.ask(2)))
        await asyncio.sleep(5 * GATHER_S)
        assert (work.rounds, gathering.waiting) == ([], 2)
    assert await asyncio.gather(*asking) == [2, 4]
    assert work.rounds == [[1, 2]]


async def test_where_there_can_be_no_room_each_caller_is_told() -> None:
    @asynccontextmanager
    async def nowhere() -> AsyncIterator[None]:
        raise OSError("no room")
        yield

    work = Doubling()
    gathering = gatherer(work, most_together=2, room=nowhere)
    told = await asyncio.gather(*(gathering.ask(number) for number in range(3)), return_exceptions=True)
    assert [str(each) for each in told] == ["no room"] * 3
    assert work.rounds == []


async def test_one_that_is_refused_is_refused_alone() -> None:
    zero, one, two = await answers_of(gatherer(Doubling(wrong=frozenset({1}))), 3)
    assert (zero, two) == (0, 4)
    assert isinstance(one, ValueError)


async def test_work_that_fails_tells_those_who_have_no_answer_and_those_alone() -> None:
    error = ZeroDivisionError()
    work = Doubling(error=error)
    gathering = gatherer(work, most_together=3)
    assert await answers_of(gathering, 5) == [error, 2, error, 6, error]
    work.error = None
    assert await gathering.ask(8) == 16


async def test_nobody_is_left_without_an_answer() -> None:
    async def forgetful(together: Sequence[PendingRequest[int, int]]) -> None:
        together[0].answer(1)

    first, second = await answers_of(Gatherer(forgetful, gather_s=GATHER_S), 2)
    assert first == 1
    assert isinstance(second, RuntimeError)


async def test_a_caller_who_leaves_takes_neither_its_request_nor_the_others_along() -> None:
    work = Doubling()
    gathering = gatherer(work)
    leaving, staying = asyncio.create_task(gathering.ask(1)), asyncio.create_task(gathering.ask(2))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 4
    assert work.rounds == [[1, 2]]


async def test_a_request_may_be_another_for_the_same_caller() -> None:
    async def plus_one(together: Sequence[PendingRequest[int, int]]) -> None:
        for waiting in together:
            other = waiting._replace(request=waiting.request + 1)
            other.answer(other.request)

    assert await answers_of(Gatherer(plus_one, gather_s=GATHER_S), 2) == [1, 2]


async def test_closing_waits_for_rounds_and_for_what_runs_beside_them() -> None:
    work = Doubling()
    gathering = gatherer(work, most_together=1, at_once=1)
    done: list[str] = []

    async def again() -> None:
        await asyncio.sleep(5 * GATHER_S)
        done.append("again")

    async def beside() -> None:
        await asyncio.sleep(5 * GATHER_S)
        done.append("beside")
        gathering.beside(again())

    asking = [asyncio.create_task(gathering.ask(number)) for number in range(3)]
    await asyncio.sleep(0)
    gathering.beside(beside())
    await gathering.close()
    assert (len(work.rounds), done) == (3, ["beside", "again"])
    assert [task.result() for task in asking] == [0, 2, 4]
    await gathering.close()


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([1, 1, 1, 1], [[1, 1, 1], [1]]),
        ([2, 2, 1], [[2], [2, 1]]),
        ([9, 1, 1], [[9], [1, 1]]),
        ([1, 9, 1], [[1], [9], [1]]),
    ],
)
async def test_a_round_takes_requests_up_to_its_size_or_one_that_is_larger(
    sizes: list[int], expected: list[list[int]]
) -> None:
    work = Doubling()
    gathering = gatherer(work, most_together=3, at_once=1, size_of=lambda request: request)
    assert await asyncio.gather(*(gathering.ask(size) for size in sizes)) == [2 * size for size in sizes]
    assert work.rounds == expected


async def test_what_one_caller_asks_goes_together_and_each_is_answered_by_itself() -> None:
    work = Doubling(wrong=frozenset({2}))
    first, second, third = await gatherer(work).ask_all([1, 2, 3])
    assert (first, third, work.rounds) == (2, 6, [[1, 2, 3]])
    assert isinstance(second, ValueError)
