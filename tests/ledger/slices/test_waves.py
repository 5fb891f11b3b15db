"""A wave of a journey goes on while a server is away: its members stay behind, and come when it is back."""

from typing import Final

from abacus.platform.postgres import Connection, Pool
from tests.engage.journeys.examples import journey
from tests.engage.journeys.stage import Stage
from tests.engage.journeys.test_waves import DAYS, SEGMENT, regulars, segments, through
from tests.ledger.slices.eight import MEMBERS, bring_back, take_away
from tests.support.house import until

AWAY: Final = 3
TABLES: Final = ("seat",)


async def inside(owner: Connection) -> list[str]:
    found: list[str] = []
    for number in range(8):
        if await owner.fetchval("select to_regclass($1)", f"slice_{number}.seat") is not None:
            found += [row[0] for row in await owner.fetch(f"select member_id from slice_{number}.seat")]
    return sorted(found)


async def test_members_of_a_server_that_is_away_come_when_it_is_back(pool: Pool, owner: Connection) -> None:
    await regulars(pool, *MEMBERS)
    stage = Stage(pool, journey(entry=SEGMENT, **DAYS))
    waves = segments(stage, page=3)
    await take_away(owner, AWAY, *TABLES)
    assert sum(await through(waves, stage)) == 8
    assert await inside(owner) == sorted({*MEMBERS} - {MEMBERS[AWAY]})
    assert await owner.fetchval("select upto from journey_wave") < 7, (
        "a process that takes over goes through them again"
    )
    await bring_back(owner, AWAY, *TABLES)

    async def all_are_there() -> bool:
        await through(waves, stage)
        return await inside(owner) == sorted(MEMBERS)

    await until(all_are_there)
    assert await owner.fetchval("select upto from journey_wave") == 7
