"""Verifying says of each version that was in force whether a second person agreed to it, and to exactly that."""

from typing import Final, NamedTuple

import pytest

from abacus.core.clock import SystemClock
from abacus.proof.verify import verify
from tests.proof.reported import lines
from tests.support.exchanges import enter_partner, run_programme
from tests.support.house import House
from tests.support.offers import LUNCH, run_offers
from tests.support.rewards import load_codes, run_reward
from tests.support.running_campaigns import run_campaign
from tests.support.running_journeys import run_journey
from tests.support.sealing import RECHECK, tampering
from tests.support.slices import SLICES

STEPS = [{"do": [{"award": {"points": 50}}]}]
UNCHECKED = "alter table campaign drop constraint if exists campaign_approved_check"
A_SUM = "insert into campaign_sum values ('market', 1, '2026-03-01', '', 'done', 1, 1, 50, 0)"

# Statements of somebody who can switch triggers off, one campaign after another, and the lines that verifying reports.
TAMPERINGS: dict[str, tuple[list[str], list[str]]] = {
    "nothing": ([], []),
    "another document": (
        ["update campaign set document = jsonb_set(document, '{steps,0,do,0,award,points}', '5000')"],
        ["campaign market@1: it is not what person:eve approved"],
    ),
    "another person": (
        ["update campaign set approved_by = 'person:ann'"],
        ["campaign market@1: person:ann approved it, it says, and no approval of person:ann lets it run"],
    ),
    "nobody, and something came of it": (
        [UNCHECKED, "update campaign set approved_by = null, status = 'ended'", A_SUM],
        ["campaign market@1: it was in force, and nobody approved it"],
    ),
    "nobody, and nothing came of it": ([UNCHECKED, "update campaign set approved_by = null, status = 'ended'"], []),
    "an approval that was rejected": (
        ["update approval set status = 'rejected'"],
        ["campaign market@1: person:eve approved it, it says, and no approval of person:eve lets it run"],
    ),
}


async def test_a_campaign_that_nobody_agreed_to_is_named(house: House, database_url: str) -> None:
    await run_campaign(house, steps=STEPS)
    async with tampering(database_url) as owner:
        for table in ("campaign", "approval"):
            await owner.execute(f"create table kept_{table} as table {table}")
        for name, (statements, expected) in TAMPERINGS.items():
            for statement in statements:
                await owner.execute(statement)
            told = lines(await verify(house.pool, RECHECK))
            assert [line for line in told if line.startswith("campaign")] == expected, name
            await owner.execute("delete from campaign_sum")
            for table in ("campaign", "approval"):
                await owner.execute(f"delete from {table}; insert into {table} table kept_{table}")


class Trace(NamedTuple):
    """A row by which something came of a version."""

    table: str
    row: str


_IN_SLICE: Final = "slice_0." if SLICES > 1 else ""
TRACES: Final = {
    "offer": Trace(f"{_IN_SLICE}offer_sum", "('lunch_20', 1, '2026-03-01', 'redeemed', 1, 1, 0, 1, 1, '2026-03-01')"),
    "reward": Trace(
        "reward_redemption",
        "('k', gen_random_uuid(), 'f', 'bob', 'GRP', 'SG', 'coffee', 1, 1, 500, 0, '2026-03-01', 'coffee_codes', null,"
        " null, null, 'shop', 'partner:shop', 'given', null, null, now(), now())",
    ),
    "programme": Trace(
        "exchange (exchange_id, direction, programme, version, partner, member_id, program, country, link_id, points,"
        " theirs, fee, fingerprint, actor, source, state, quoted_at, expires_at, changed_at, attempts, turns)",
        "(gen_random_uuid(), 'out', 'skymiles', 1, 'skyline', 'bob', 'GRP', 'SG', gen_random_uuid(), 1000, 400, 0, 'f',"
        " 'shop', 'partner:shop', 'captured', now(), now(), now(), 0, 0)",
    ),
}
LABELS: Final = {"offer": "lunch_20@1", "reward": "coffee@1", "programme": "skymiles@1"}
TABLES: Final = {"programme": "exchange_programme"}


@pytest.mark.parametrize("kind", TRACES)
async def test_what_nobody_agreed_to_is_named_once_something_came_of_it(
    house: House, database_url: str, kind: str
) -> None:
    pool = house.pool
    await load_codes(pool, ["A"])
    await run_reward(pool)
    await run_offers(pool, LUNCH)
    await enter_partner(pool, SystemClock())
    await run_programme(pool)
    label, trace, table = LABELS[kind], TRACES[kind], TABLES.get(kind, kind)

    async def told() -> list[str]:
        return [line for line in lines(await verify(pool, RECHECK)) if line.startswith(kind)]

    by = "person:ben" if kind == "offer" else "person:eve"
    assert await told() == [f"{kind} {label}: {by} approved it, it says, and no approval of {by} lets it run"]
    async with tampering(database_url) as owner:
        await owner.execute(f"alter table {table} drop constraint if exists {table}_approved_check")
        await owner.execute(f"update {table} set approved_by = null, status = 'ended'")
        assert await told() == []
        await owner.execute(f"insert into {trace.table} values {trace.row}")
    assert await told() == [f"{kind} {label}: it was in force, and nobody approved it"]


async def test_a_journey_that_nobody_agreed_to_is_named_once_members_were_on_it(
    house: House, database_url: str
) -> None:
    await run_journey(house, nodes={"hello": {"exit": "through"}})

    async def told() -> list[str]:
        return [line for line in lines(await verify(house.pool, RECHECK)) if line.startswith("journey")]

    assert await told() == []
    async with tampering(database_url) as owner:
        await owner.execute("update journey set document = jsonb_set(document, '{priority}', '9')")
        assert await told() == ["journey welcome@1: it is not what person:eve approved"]
        await owner.execute("alter table journey drop constraint if exists journey_approved_check")
        await owner.execute("update journey set approved_by = null, status = 'ended'")
        assert await told() == []
        await owner.execute(
            f"insert into {_IN_SLICE}journey_sum values ('welcome', 1, '2026-03-01', 1, '', 'entered', '', 0, 1)"
        )
    assert await told() == ["journey welcome@1: it was in force, and nobody approved it"]
