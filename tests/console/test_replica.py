"""Pages are read from a replica, a real standby, while it answers and is not far behind; and never by somebody who has
just changed something.
"""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from abacus.console.read_side import REPLICA, ReadSide, Replica, reading_of
from abacus.core.clock import SystemClock
from abacus.platform.embedded.postgres import EmbeddedPostgres, postgres_cluster
from abacus.platform.health import Health
from abacus.platform.migrations import migrate
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.roles import APPLICATION_ROLE
from abacus.pricing.store.cards import CardReader, CardStore
from tests.console.desk import Browser, desk
from tests.console.one_member import HERE, adjusted, opened
from tests.support.hooks import award, post


@asynccontextmanager
async def pool_of(url: str, role: str | None = APPLICATION_ROLE) -> AsyncIterator[Pool]:
    pool = await open_pool(url, size=4, role=role)
    try:
        yield pool
    finally:
        await pool.close()


def copied(primary_url: str, directory: Path) -> None:
    """Makes a standby that will follow the primary."""
    cluster = postgres_cluster(directory / "cluster", durable=False)
    directory.mkdir()
    account = cluster.account
    if account is not None:
        os.chown(directory, account.pw_uid, account.pw_gid)
    port = primary_url.rpartition(":")[2].partition("/")[0]
    command = [cluster.program("pg_basebackup"), "-h", "127.0.0.1", "-p", port, "-U", "postgres", "--no-sync"]
    done = subprocess.run(  # noqa: S603  # one of Postgres' own programs
        [*command, "-R", "-c", "fast", "-D", str(cluster.directory)],
        check=False,
        capture_output=True,
        timeout=60,
        user=None if account is None else account.pw_uid,
        group=None if account is None else account.pw_gid,
        extra_groups=None if account is None else [],
        cwd="/",
    )
    assert done.returncode == 0, done.stderr


async def balance(browser: Browser) -> int:
    page = (await browser.twin(HERE)).json()
    return sum(each["balance"] for each in page["accounts"]["value"])


@asynccontextmanager
async def replicated() -> AsyncIterator[tuple[str, EmbeddedPostgres]]:
    """A migrated database, and a standby that is not started yet."""
    # Not below pytest's own folder: another run of pytest closes that one to the user that Postgres runs as.
    with tempfile.TemporaryDirectory(prefix="abacus-tests-") as directory:
        async with EmbeddedPostgres(Path(directory) / "primary", durable=False) as primary:
            assert primary.url is not None
            await migrate(primary.url)
            await asyncio.to_thread(copied, primary.url, Path(directory) / "standby")
            yield primary.url, EmbeddedPostgres(Path(directory) / "standby", durable=False)


@pytest.mark.long
async def test_pages_are_read_from_a_standby_as_long_as_it_keeps_up() -> None:
    health = Health(["console"])
    async with replicated() as (url, standby), pool_of(url) as pool:

        async def opening() -> ReadSide:
            assert standby.url is not None
            return reading_of(await open_pool(standby.url, size=4), SystemClock(), CardReader(CardStore(pool).all))

        async def all_is(done: str) -> None:
            """At the standby; also what the primary has not written to its log yet."""
            async with asyncio.timeout(20), pool_of(str(standby.url)) as there:
                end = await pool.fetchval("select pg_current_wal_insert_lsn()::text")
                is_there = f"select pg_last_wal_{done}_lsn() >= $1::text::pg_lsn"
                while not await there.fetchval(is_there, end):  # noqa: ASYNC110  # only the server knows
                    await asyncio.sleep(0.01)

        replica = Replica(opening, health)
        async with desk(pool, replica=replica) as open_desk:
            ann = await open_desk.inside("ann", "support")
            ben = await open_desk.inside("ben", "support")
            await opened(pool, open_desk)

            async with standby:
                await all_is("replay")
                await replica.look()
                assert (health.missed, await balance(ben)) == ({}, 100)

                async with pool_of(str(standby.url), None) as there:
                    await there.execute("select pg_wal_replay_pause()")
                    await post(pool, award("txn:rides:2", 7, "bob"))
                    assert (await balance(ann), await balance(ben)) == (100, 100)

                    await adjusted(ann, "5")
                    assert (await balance(ann), await balance(ben)) == (112, 100)

                    await all_is("receive")
                    await replica.look(most_behind_s=0.0)
                    assert "s behind" in health.missed[REPLICA]
                    assert await balance(ben) == 112

                    await there.execute("select pg_wal_replay_resume()")
                    await all_is("replay")
                    await replica.look()
                    assert (health.missed, replica.reading is not None) == ({}, True)
                    assert await balance(ben) == 112

            await replica.look()
            assert (REPLICA in health.missed, replica.reading) == (True, None)
            assert await balance(ben) == 112
        await replica.close()


async def test_a_replica_that_is_away_from_the_start_is_done_without(pool: Pool) -> None:
    health = Health(["console"])

    async def nowhere() -> ReadSide:
        return reading_of(
            await open_pool("postgresql://127.0.0.1:1/none", size=1), SystemClock(), CardReader(CardStore(pool).all)
        )

    replica = Replica(nowhere, health)
    await replica.look()
    assert (REPLICA in health.missed, replica.reading) == (True, None)
    async with desk(pool, replica=replica) as open_desk:
        await opened(pool, open_desk)
        ann = await open_desk.inside("ann", "support")
        assert await balance(ann) == 100
