"""One call ahead: the results come in order, and no call runs before the one before it has ended."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import aclosing
from functools import partial

import pytest

from abacus.platform.ahead import one_ahead


async def test_results_come_in_order() -> None:
    assert [each async for each in one_ahead([partial(abs, -number) for number in range(5)])] == [0, 1, 2, 3, 4]
    assert [each async for each in one_ahead(list[Callable[[], int]]())] == []


async def test_the_next_call_runs_while_a_result_is_used() -> None:
    began = [threading.Event() for _ in range(3)]
    async with aclosing(one_ahead([each.set for each in began])) as results:
        await anext(results)
        await asyncio.to_thread(began[1].wait, 20)
        assert [each.is_set() for each in began] == [True, True, False]


async def test_an_error_comes_where_its_result_would() -> None:
    results = one_ahead([lambda: 1, lambda: 1 // 0, lambda: 3])
    assert await anext(results) == 1
    with pytest.raises(ZeroDivisionError):
        await anext(results)
