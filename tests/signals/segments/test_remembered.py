"""Numbers are asked for once and remembered; what may have become wrong is forgotten."""

import asyncio
from collections.abc import Collection, Mapping

import pytest

from abacus.signals.segments.remembered import RememberedNumbers

pytestmark = pytest.mark.once


class Register:
    """Numbers in memory, with the questions that were asked. `held` keeps the answers back."""

    def __init__(self, **numbers: int) -> None:
        self.numbers = numbers
        self.asked: list[list[str]] = []
        self.was_asked, self.go_on = asyncio.Event(), asyncio.Event()
        self.go_on.set()

    async def ask(self, member_ids: Collection[str]) -> Mapping[str, int]:
        self.asked.append(list(member_ids))
        answer = {each: self.numbers[each] for each in member_ids if each in self.numbers}
        self.was_asked.set()
        await self.go_on.wait()
        return answer


async def test_unknown_members_are_asked_for_together_and_once() -> None:
    register = Register(ann=1, bob=0)
    remembered = RememberedNumbers(register.ask, most=10)
    assert await remembered.of(["ann", "zoe"]) == {"ann": 1}
    assert await remembered.of(["ann", "bob", "zoe"]) == {"ann": 1, "bob": 0}
    assert await remembered.of(["ann", "bob", "zoe"]) == {"ann": 1, "bob": 0}
    assert register.asked == [["ann", "zoe"], ["bob"]]


async def test_the_numbers_that_nobody_asked_for_go_first() -> None:
    register = Register(ann=1, bob=2, cid=3)
    remembered = RememberedNumbers(register.ask, most=2)
    for each in ("ann", "bob", "ann", "cid"):
        await remembered.of([each])
    assert await remembered.of(["ann", "cid"]) == {"ann": 1, "cid": 3}
    assert register.asked == [["ann"], ["bob"], ["cid"]]
    await remembered.of(["bob"])
    assert register.asked[-1] == ["bob"]


async def test_no_more_are_remembered_than_may_be() -> None:
    remembered = RememberedNumbers(Register().ask, most=2)
    for each in range(20):
        await remembered.of([f"m{each}"])
        assert len(remembered) <= 2


async def test_more_than_can_be_remembered_are_answered_all_the_same() -> None:
    register = Register(ann=1, bob=2, cid=3)
    assert await RememberedNumbers(register.ask, most=1).of(["ann", "bob", "cid"]) == register.numbers


async def test_that_a_member_has_none_is_forgotten_alone_or_with_all_numbers() -> None:
    register = Register(ann=1)
    remembered = RememberedNumbers(register.ask, most=10)
    await remembered.of(["ann", "zoe"])
    register.numbers = {"ann": 7, "zoe": 2}
    remembered.forget_absent()
    assert await remembered.of(["ann", "zoe"]) == {"ann": 1, "zoe": 2}
    remembered.forget()
    assert await remembered.of(["ann", "zoe"]) == {"ann": 7, "zoe": 2}


async def test_an_answer_to_a_question_from_before_is_not_remembered() -> None:
    """The member gets its number, and the process reads the new segment, while the answer is on its way."""
    for forget in (RememberedNumbers.forget_absent, RememberedNumbers.forget):
        register = Register()
        register.go_on.clear()
        remembered = RememberedNumbers(register.ask, most=10)
        before = asyncio.create_task(remembered.of(["zoe"]))
        await register.was_asked.wait()
        register.numbers = {"zoe": 2}
        forget(remembered)
        register.go_on.set()
        assert await before == {}
        assert await remembered.of(["zoe"]) == {"zoe": 2}
