"""Verifying says of each campaign that was in force whether a second person agreed to it, and to exactly that."""

from abacus.proof.verify import verify
from tests.proof.reported import lines
from tests.support.house import House
from tests.support.running_campaigns import run_campaign
from tests.support.sealing import RECHECK, tampering

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
