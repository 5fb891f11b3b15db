"""The breaker around a store."""

import asyncio

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.platform.reading.breaker import Breaker
from abacus.platform.reading.decide.circuit import Patience


class Scene:
    """A breaker, its time, and a store that fails when told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.fails = True
        self.calls = 0
        self.health = Health(())
        self.breaker = Breaker("store", Patience(failures=2), clock_s=lambda: self.now, health=self.health)

    async def call(self) -> int:
        return await self.breaker.call(self._answer, within_s=5)

    async def refused(self) -> None:
        with pytest.raises(Unavailable, match="store unavailable: it is away"):
            await self.call()

    async def _answer(self) -> int:
        self.calls += 1
        if self.fails:
            raise Unavailable("database", "it is away")
        return 7


async def test_after_failures_in_a_row_nobody_is_let_through_but_one_now_and_then() -> None:
    scene = Scene()
    for _ in range(2):
        with pytest.raises(Unavailable, match="it is away"):
            await scene.call()
    assert (scene.breaker.is_open, scene.health.missed) == (True, {"store": "it is away"})
    await scene.refused()
    assert scene.calls == 2
    scene.now = 1.0
    with pytest.raises(Unavailable):
        await scene.call()  # the one that looks
    await scene.refused()
    assert scene.calls == 3


async def test_it_closes_when_the_store_answers() -> None:
    scene = Scene()
    for _ in range(2):
        with pytest.raises(Unavailable):
            await scene.call()
    scene.now, scene.fails = 1.0, False
    assert await scene.call() == 7
    assert (scene.breaker.is_open, scene.health.missed) == (False, {})
    assert await scene.call() == 7


async def test_failures_that_are_not_in_a_row_do_not_open_it() -> None:
    scene = Scene()
    for fails in (True, False, True, False):
        scene.fails = fails
        if fails:
            with pytest.raises(Unavailable):
                await scene.call()
        else:
            assert await scene.call() == 7
    assert not scene.breaker.is_open


async def test_a_silent_store_is_not_waited_for() -> None:
    with pytest.raises(Unavailable, match=r"no answer within 0\.01 s"):
        await Breaker("store").call(asyncio.Event().wait, within_s=0.01)


async def test_an_error_that_says_nothing_of_the_store_is_passed_on() -> None:
    async def mistaken() -> None:
        raise ValueError("a range that is none")

    breaker = Breaker("store", Patience(failures=1))
    with pytest.raises(ValueError, match="a range that is none"):
        await breaker.call(mistaken, within_s=1)
    assert not breaker.is_open
