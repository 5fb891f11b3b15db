"""Waiting for the fate of awards: one question for all callers, and no answer when it is not known in time."""

import asyncio
from collections.abc import Iterable, Mapping
from uuid import UUID

import pytest

from abacus.core.errors import Unavailable
from abacus.core.ids import award_id
from abacus.intake.partners.register import AwardState, AwardStatus
from abacus.intake.partners.watch import Watch
from tests.ledger.ledgers import award

pytestmark = pytest.mark.once


def state(key: str, status: AwardStatus = AwardStatus.QUEUED) -> AwardState:
    request = award(key=key)
    return AwardState(award_id(key), "acme", request, status, request.occurred_at)


class Register:
    """States in memory; they can go away."""

    def __init__(self, *states: AwardState) -> None:
        self.states_now = {each.award_id: each for each in states}
        self.is_away = False
        self.questions: list[set[UUID]] = []

    async def states(self, ids: Iterable[UUID]) -> Mapping[UUID, AwardState]:
        self.questions.append(set(ids))
        if self.is_away:
            raise Unavailable("database", "gone")
        return {id_: self.states_now[id_] for id_ in ids if id_ in self.states_now}

    def put(self, key: str, status: AwardStatus) -> AwardState:
        self.states_now[award_id(key)] = state(key, status)
        return self.states_now[award_id(key)]


async def test_what_is_known_already_needs_one_question() -> None:
    register = Register()
    rejected = register.put("a", AwardStatus.REJECTED)
    assert await Watch(register).outcome(rejected.award_id, 5) == rejected
    assert len(register.questions) == 1


async def test_all_who_wait_are_one_question() -> None:
    register = Register(*(state(str(number)) for number in range(100)))
    watch = Watch(register)
    waiting = [asyncio.create_task(watch.outcome(award_id(str(number)), 10)) for number in range(100)]
    twice = asyncio.create_task(watch.outcome(award_id("0"), 10))
    await asyncio.sleep(0.01)
    assert register.questions[0] == set(register.states_now)
    posted = [register.put(str(number), AwardStatus.POSTED) for number in range(100)]
    assert await asyncio.gather(*waiting) == posted
    assert await twice == posted[0]
    assert all(ids == set(register.states_now) for ids in register.questions)


async def test_what_is_not_known_in_time_is_nothing() -> None:
    register = Register(state("queued"))
    watch = Watch(register)
    outcomes = await asyncio.gather(watch.outcome(award_id("queued"), 0.12), watch.outcome(award_id("unknown"), 0.12))
    assert list(outcomes) == [None, None]
    assert 1 <= len(register.questions) <= 4


async def test_while_the_register_is_away_it_is_asked_again() -> None:
    register = Register()
    posted = register.put("a", AwardStatus.POSTED)
    register.is_away = True
    waiting = asyncio.create_task(Watch(register).outcome(posted.award_id, 10))
    await asyncio.sleep(0.08)
    register.is_away = False
    assert await waiting == posted
