"""Members enter a journey while a server is away: its members stay behind, and come when it is back."""

from datetime import UTC, datetime
from typing import Final

from abacus.engage.journeys.heard import HeardStore
from abacus.platform.kafka.reader import Record, StartAgain
from abacus.platform.postgres import Connection, Pool
from abacus.signals.events.decide.message import encode_event
from tests.engage.campaigns.offers import order
from tests.engage.journeys.examples import ORDERS, journey
from tests.engage.journeys.stage import Stage
from tests.engage.journeys.test_waves import (
    DAYS,
    EXPIRING,
    MARCH_5TH,
    SEGMENT,
    expiries,
    regulars,
    segments,
    through,
)
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


async def test_accounts_of_a_server_that_is_away_come_when_it_is_back(pool: Pool, owner: Connection) -> None:
    for number, member in enumerate(MEMBERS):
        await owner.execute(
            f"insert into slice_{number}.account (member_id, program, country, balance, held, expires_on)"
            " values ($1, 'GRP', 'SG', 60, 0, $2)",
            *(member, MARCH_5TH),
        )
    stage = Stage(pool, journey(entry=EXPIRING, starts_at="2026-03-01T00:00:00+08:00", **DAYS))
    waves, at = expiries(stage), datetime(2026, 3, 2, 17, tzinfo=UTC)
    await take_away(owner, AWAY, *TABLES, "account")
    assert await through(waves, stage, at) == [7]
    assert await inside(owner) == sorted({*MEMBERS} - {MEMBERS[AWAY]})
    await bring_back(owner, AWAY, *TABLES, "account")

    async def all_are_there() -> bool:
        await through(waves, stage, at)
        return await inside(owner) == sorted(MEMBERS)

    await until(all_are_there)


async def test_events_of_members_whose_server_is_away_stay_behind(pool: Pool, owner: Connection) -> None:
    """And nobody else waits for them. What was heard meanwhile is not heard for these members."""
    stage = Stage(pool, journey(entry={"on": ORDERS}, exits=[{"name": "again", "on": ORDERS}], **DAYS))
    orders = [order(number, member) for number, member in enumerate(MEMBERS)]
    records = [Record(encode_event(each), "t", 0, number, 1) for number, each in enumerate(orders)]
    follower, heard = stage.follower("t"), HeardStore(pool)
    await take_away(owner, AWAY, *TABLES)
    behind = await follower.handle(records)
    assert (await inside(owner), list(behind)) == (sorted({*MEMBERS} - {MEMBERS[AWAY]}), [records[AWAY]])
    assert [*await heard.behind(["t"])] == [AWAY]
    assert list(await follower.handle(records[AWAY:])) == [records[AWAY]]
    await bring_back(owner, AWAY, *TABLES)

    async def is_back() -> bool:
        try:
            await follower.handle(())
        except StartAgain:
            return True
        return False

    await until(is_back)
    assert list(await follower.handle(records)) == []
    assert (await inside(owner), await heard.behind(["t"])) == (sorted(MEMBERS), {})
