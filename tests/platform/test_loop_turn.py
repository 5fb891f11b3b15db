"""Others go on after each two seconds of a turn, and not before."""

import asyncio

import pytest

from abacus.platform.loop_turn import LoopTurn


@pytest.mark.parametrize(
    ("pieces_s", "rests"), [([1, 0.5], [0, 0]), ([1, 1.5, 1, 1, 1.5], [0, 1, 1, 1, 2]), ([9], [1])]
)
async def test_rests(pieces_s: list[float], rests: list[int]) -> None:
    now = 0.0
    others = 0
    over = asyncio.Event()

    async def go_on() -> None:
        nonlocal others
        while not over.is_set():
            others += 1
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(go_on())
    turn, seen = LoopTurn(2, lambda: now), []
    for each in pieces_s:
        now += each
        await turn.rest()
        seen.append(others)
    over.set()
    await beside
    assert seen == rests
