"""Work that fails for some is done for the others, in halves."""

from collections.abc import Sequence

import pytest

from abacus.engage.journeys.halving import MOST_FAILURES, in_halves


class Work:
    """Is done of all but some numbers."""

    def __init__(self, *faulty: int) -> None:
        self._faulty = {*faulty}
        self.done: list[int] = []

    async def __call__(self, some: Sequence[int]) -> None:
        if bad := self._faulty.intersection(some):
            raise ValueError(f"{min(bad)} is at fault")
        self.done += some


async def halved(work: Work, number: int) -> list[tuple[int, str]]:
    return await in_halves(range(number), work, concerns_all=lambda fault: isinstance(fault, KeyError))


async def test_who_is_at_fault_is_found_and_the_others_are_done_in_their_order() -> None:
    work = Work(3, 77)
    assert await halved(work, 100) == [(3, "ValueError: 3 is at fault"), (77, "ValueError: 77 is at fault")]
    assert work.done == [each for each in range(100) if each not in {3, 77}]
    assert await halved(Work(), 0) == []


async def test_where_many_are_at_fault_a_part_is_told_as_a_whole() -> None:
    """Its fault may name one of them, and is told of nobody else."""
    found = dict(await halved(Work(*range(500)), 500))
    assert sorted(found) == [*range(500)]
    assert sum("is at fault" in each for each in found.values()) < MOST_FAILURES
    assert any(each.startswith("ValueError, of ") for each in found.values())


async def test_what_concerns_all_is_raised() -> None:
    async def work(_: Sequence[int]) -> None:
        raise KeyError("the database is away")

    with pytest.raises(KeyError):
        await in_halves([1, 2], work, concerns_all=lambda fault: isinstance(fault, KeyError))
