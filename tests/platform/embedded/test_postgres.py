"""Postgres keeps its rows, however its owner ends."""

import asyncio
import os
import pwd
import signal
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import psutil
import pytest

from abacus.core.errors import Refused
from abacus.platform.embedded import postgres_cluster
from abacus.platform.embedded.postgres import EmbeddedPostgres
from abacus.platform.embedded.postgres_cluster import PostgresCluster
from tests.platform.embedded.owner import Owner

_ONLY_POSTGRES = {"sqs": False, "kafka": False}


@asynccontextmanager
async def _connected(url: str | None) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await asyncpg.connect(url, timeout=10)
    try:
        yield connection
    finally:
        await connection.close()


async def _write(url: str | None) -> None:
    async with _connected(url) as connection:
        await connection.execute("create table kept as select 180 as points")


async def _read(url: str | None) -> int:
    async with _connected(url) as connection:
        return int(await connection.fetchval("select points from kept"))


@pytest.mark.long
async def test_data_survives_a_restart(data_dir: Path) -> None:
    postgres = EmbeddedPostgres(data_dir, durable=False)
    for step in (_write, _read):
        async with postgres:
            await step(postgres.url)
        assert postgres.url is None


@pytest.mark.parametrize(("durable", "setting"), [(True, "on"), (False, "off")])
async def test_durability_is_a_choice(data_dir: Path, durable: bool, setting: str) -> None:  # noqa: FBT001  # a column
    async with EmbeddedPostgres(data_dir, durable=durable) as postgres, _connected(postgres.url) as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            assert await connection.fetchval(f"show {name}") == setting
        assert await connection.fetchval("show listen_addresses") == "127.0.0.1"


@pytest.mark.long
async def test_a_killed_owner_takes_postgres_with_it_in_order(data_dir: Path, owner: Callable[..., Owner]) -> None:
    first = owner(**_ONLY_POSTGRES)
    await _write(first.database_url)
    first.kill()
    _, alive = await asyncio.to_thread(psutil.wait_procs, first.descendants, timeout=20)
    assert not alive
    assert "database system is shut down" in (data_dir / "postgres" / "postgres.log").read_text()
    second = owner(**_ONLY_POSTGRES)
    assert await _read(second.database_url) == 180


@pytest.mark.long
async def test_the_next_owner_need_not_wait_for_that(data_dir: Path, owner: Callable[..., Owner]) -> None:
    first = owner(**_ONLY_POSTGRES)
    await _write(first.database_url)
    first.kill()
    assert await _read(owner(**_ONLY_POSTGRES).database_url) == 180


@pytest.mark.long
async def test_stops_a_postmaster_that_nobody_keeps(data_dir: Path, owner: Callable[..., Owner]) -> None:
    first = owner(**_ONLY_POSTGRES)
    await _write(first.database_url)
    (keeper,) = first.descendants_running("postgres_keeper")
    keeper.kill()
    first.kill()
    assert await _read(first.database_url) == 180
    async with EmbeddedPostgres(data_dir / "postgres", durable=False) as postgres:
        assert await _read(postgres.url) == 180
    _, alive = await asyncio.to_thread(psutil.wait_procs, first.descendants, timeout=20)
    assert not alive


@pytest.mark.long
async def test_recovers_when_everything_was_killed_at_once(data_dir: Path, owner: Callable[..., Owner]) -> None:
    first = owner(**_ONLY_POSTGRES, durable=True)
    await _write(first.database_url)
    first.process.send_signal(signal.SIGSTOP)  # so that it cannot tidy up
    first.kill_descendants()
    first.kill()
    assert (data_dir / "postgres" / "cluster" / "postmaster.pid").exists()
    assert await _read(owner(**_ONLY_POSTGRES, durable=True).database_url) == 180


@pytest.mark.long
@pytest.mark.parametrize("content", ["{ours}\n", "4194303\n", "", "nonsense\n"])
async def test_a_stale_pid_file_blocks_nobody(data_dir: Path, content: str) -> None:
    async with EmbeddedPostgres(data_dir, durable=False) as postgres:
        await _write(postgres.url)
    pid_file = data_dir / "cluster" / "postmaster.pid"
    pid_file.write_text(content.format(ours=os.getpid()))
    pid_file.chmod(0o644)
    async with EmbeddedPostgres(data_dir, durable=False) as postgres:
        assert await _read(postgres.url) == 180


async def test_a_making_that_was_interrupted_is_made_again(data_dir: Path) -> None:
    (data_dir / "cluster.unfinished").mkdir()
    (data_dir / "cluster.unfinished" / "PG_VERSION").write_text("18\n")
    async with EmbeddedPostgres(data_dir, durable=False) as postgres:
        await _write(postgres.url)
        assert await _read(postgres.url) == 180
    assert not (data_dir / "cluster.unfinished").exists()


@pytest.mark.long
async def test_data_of_another_version_is_refused(data_dir: Path) -> None:
    async with EmbeddedPostgres(data_dir, durable=False):
        pass
    (data_dir / "cluster" / "PG_VERSION").write_text("9\n")
    with pytest.raises(Refused, match="was made by PostgreSQL 9"):
        await EmbeddedPostgres(data_dir, durable=False).start()


@pytest.mark.long
async def test_a_second_server_on_the_same_data_is_refused(data_dir: Path) -> None:
    async with EmbeddedPostgres(data_dir, durable=False) as postgres:
        with pytest.raises(Refused, match=f"in use by process {os.getpid()}"):
            await EmbeddedPostgres(data_dir, durable=False).start()
        await _write(postgres.url)


@pytest.mark.long
async def test_stops_although_sessions_are_open(data_dir: Path) -> None:
    async with EmbeddedPostgres(data_dir, durable=False) as postgres:
        connection = await asyncpg.connect(postgres.url)
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < 10
    connection.terminate()


def test_on_a_new_machine_the_account_is_made_once(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make_if_missing(name: str) -> None:
        if name not in made:
            time.sleep(0.05)  # as `useradd` does between looking and making
            made.append(name)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", lambda _name: pwd.getpwuid(os.getuid()))
    monkeypatch.setattr(postgres_cluster, "ensure_user_exists", make_if_missing)
    with ThreadPoolExecutor(max_workers=4) as together:
        clusters = list(together.map(lambda part: PostgresCluster(data_dir / part, durable=False), "abcd"))
    assert made == ["pgserver"]
    assert {cluster.account for cluster in clusters} == {pwd.getpwuid(os.getuid())}
