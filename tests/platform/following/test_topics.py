"""Topics that come and go: each wanted one has one follower."""

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.following.together import Run
from abacus.platform.following.topics import FollowedTopics
from abacus.platform.health import SubWorkerHealth, WorkerHealth, WorkerState


class Followers:
    """The followers that run, and how often each topic was followed."""

    def __init__(self) -> None:
        self.wanted: set[str] | None = set()
        self.running: set[str] = set()
        self.begun: Counter[str] = Counter()
        self.healths: dict[str, SubWorkerHealth] = {}
        self.slow = asyncio.Event()
        self.slow.set()
        self.health = WorkerHealth("followers")
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(
            FollowedTopics(self._wanted, self._follow, self.health, look_every_s=0.001).run(self._stop)
        )

    def _wanted(self) -> set[str]:
        if self.wanted is None:
            raise Unavailable("database", "down")
        return self.wanted

    def _follow(self, topic: str, health: SubWorkerHealth) -> Run:
        async def run(stop: asyncio.Event) -> None:
            assert topic not in self.running
            self.healths[topic] = health
            self.running.add(topic)
            self.begun[topic] += 1
            await stop.wait()
            await self.slow.wait()
            self.running.remove(topic)
            if topic == "bad":
                raise ValueError("the follower failed")

        return run

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not holds():  # noqa: ASYNC110  # what holds is not the test's to announce
                await asyncio.sleep(0.001)

    async def stop(self) -> None:
        self._stop.set()
        await self._task


def _equal(followers: Followers, wanted: set[str]) -> bool:
    return followers.running == wanted


async def test_followers_start_and_stop_as_topics_come_and_go() -> None:
    followers = Followers()
    for wanted in ({"a"}, {"a", "b"}, {"b", "c"}, set(), {"a"}):
        followers.wanted = wanted
        await followers.until(partial(_equal, followers, wanted))
    await followers.stop()
    assert followers.running == set()
    assert followers.begun == {"a": 2, "b": 1, "c": 1}


async def test_a_topic_that_comes_back_waits_until_its_follower_has_ended() -> None:
    followers = Followers()
    followers.wanted = {"a"}
    await followers.until(lambda: followers.running == {"a"})
    followers.slow.clear()
    followers.wanted = {"b"}
    await followers.until(lambda: "b" in followers.running)
    followers.wanted = {"a", "b"}
    await asyncio.sleep(0.02)
    assert followers.begun["a"] == 1
    followers.slow.set()
    await followers.until(lambda: followers.begun["a"] == 2)
    await followers.stop()


async def test_the_failure_of_a_follower_ends_the_worker() -> None:
    followers = Followers()
    followers.wanted = {"bad"}
    await followers.until(lambda: followers.running == {"bad"})
    followers.wanted = set()
    with pytest.raises(ExceptionGroup) as failure:
        await followers.stop()
    assert failure.group_contains(ValueError, match="the follower failed")


async def test_the_worker_is_ready_when_all_followers_are_and_also_without_any() -> None:
    followers = Followers()
    await followers.until(lambda: followers.health.state is WorkerState.READY)
    followers.wanted = {"a", "b"}
    await followers.until(lambda: followers.running == {"a", "b"})
    followers.healths["a"].ready()
    followers.healths["b"].waiting(Unavailable("Kafka", "down"))
    assert followers.health.detail == "Kafka: down"
    followers.wanted = {"a"}
    await followers.until(lambda: followers.running == {"a"} and followers.health.state is WorkerState.READY)
    await followers.stop()


async def test_what_is_wanted_is_asked_again_while_it_is_not_known() -> None:
    followers = Followers()
    followers.wanted = None
    await followers.until(lambda: followers.health.state is WorkerState.WAITING)
    followers.wanted = {"a"}
    await followers.until(lambda: followers.running == {"a"})
    await followers.stop()
