"""Work that a worker leads, done step by step by a test."""

from typing import Protocol

from abacus.platform.following.leader import Step
from abacus.platform.postgres import Pool


class Stepping(Protocol):
    """What is done step by step."""

    @property
    def step(self) -> Step: ...


async def one_step(pool: Pool, work: Stepping) -> int:
    """Do one step; how much was done."""
    async with pool.acquire() as connection:
        return await work.step(connection)


async def all_steps(pool: Pool, work: Stepping) -> int:
    """Step until nothing is left; how much was done in all."""
    done = 0
    while count := await one_step(pool, work):
        done += count
    return done
