"""How large tables are, and when the disk is full, as people are told it: by the command line, and by the console."""

from datetime import timedelta

import pytest

from abacus.core.clock import SystemClock
from abacus.oversight.growth import sizes
from abacus.oversight.growth.types import DATABASE, SizeOfDay, Sizes
from abacus.platform.postgres import Pool
from tests.console.desk import desk
from tests.support.commands import Ran, abacus
from tests.support.house import House

GB = 1_000_000_000


async def status(house: House, *options: str, **more: str) -> Ran:
    return await abacus("status", *options, env={**house.environment(), **more})


async def noted(pool: Pool, *sizes_of: Sizes) -> None:
    """On this day, and on days before it, the last first."""
    today = SystemClock().now().date()
    async with pool.acquire() as connection:
        for ago, each in enumerate(sizes_of):
            await sizes.note(connection, today - timedelta(days=ago), each)


@pytest.mark.parametrize(
    ("disk", "told"),
    [
        (None, "ABACUS_DATABASE_DISK_GB is not set, so nobody knows when its disk is full"),
        ("1000000000", "; nothing says that its disk of 1.0 EB will be full"),
        ("0.001", "; its disk of 1.0 MB is full on "),
    ],
)
async def test_the_command_line_tells_sizes(bare_house: House, disk: str | None, told: str) -> None:
    more = {} if disk is None else {"ABACUS_DATABASE_DISK_GB": disk}
    shown = await status(bare_house, **more)
    assert "Largest tables" in shown.out
    assert told in shown.out
    is_full = "WRONG: the disk of the database is full on " in shown.out
    assert is_full is (disk == "0.001")


async def test_the_document_has_the_rate_and_the_day(pool: Pool, bare_house: House) -> None:
    await noted(pool, Sizes(2, {}), Sizes(1, {"transfer": 1}))
    found = (await status(bare_house, "--json", ABACUS_DATABASE_DISK_GB="1")).json["sizes"]
    assert (found["by_days"], found["disk"]) == (1, GB)
    assert found["a_day"] == found["bytes"] - 1
    assert found["days_left"] == (GB - found["bytes"]) // found["a_day"]
    assert len(found["largest"]) == 10
    assert found["largest"] == sorted(found["largest"], key=lambda each: -each["bytes"])


async def test_the_console_tells_what_was_noted_last(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        assert "No size is noted yet." in (await ann.see("/operations")).text
        today = open_desk.clock.now().date()
        async with pool.acquire() as connection:
            before = today - timedelta(days=10)
            await sizes.note(connection, before, Sizes(80 * GB, {"transfer": 60 * GB}))
            await sizes.note(connection, today, Sizes(100 * GB, {"transfer": 70 * GB, "claim": GB}))
            assert SizeOfDay(today, DATABASE, 100 * GB) in await sizes.noted_since(connection, today)
        shown = (await ann.see("/operations")).text
        assert "100.0 GB" in shown
        found = (await ann.twin("/operations")).json()["sizes"]["value"]
        assert [(each["table"], each["a_day"]) for each in found["largest"]] == [
            ("transfer", GB),
            ("claim", GB // 10),
        ]
