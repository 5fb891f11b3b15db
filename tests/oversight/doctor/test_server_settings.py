"""How database servers are set up: what is wrong, what could be better, and the command that tells it."""

import json

import pytest

from abacus.oversight.doctor.decide.server_settings import Server, of_server
from abacus.oversight.doctor.server_settings import read_servers
from abacus.oversight.doctor.types import Grade
from abacus.platform.postgres import Pool
from tests.support.commands import abacus

GIGABYTE = 1024**3
WELL_SET_UP = Server(
    name="database",
    settings={
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
        "autovacuum": "on",
        "wal_compression": "lz4",
        "shared_buffers": str(4 * GIGABYTE),
        "max_wal_size": str(16 * GIGABYTE),
        "checkpoint_timeout": "1800",
    },
    compressions=("pglz", "lz4", "off"),
    random_indexes=3 * GIGABYTE,
    timed_checkpoints=100,
    asked_checkpoints=10,
)


def graded(server: Server) -> dict[str, Grade]:
    return {each.what: each.grade for each in of_server(server) if each.grade is not Grade.GOOD}


def with_settings(**settings: str) -> Server:
    return WELL_SET_UP._replace(settings={**WELL_SET_UP.settings, **settings})


def test_a_server_that_is_well_set_up_gets_no_advice() -> None:
    assert not graded(WELL_SET_UP)
    assert [each.what for each in of_server(WELL_SET_UP)] == [
        *("fsync", "full_page_writes", "synchronous_commit", "autovacuum"),
        *("wal_compression", "shared_buffers", "checkpoints"),
    ]


@pytest.mark.parametrize("name", ["fsync", "full_page_writes", "synchronous_commit", "autovacuum"])
def test_what_may_lose_something_is_wrong(name: str) -> None:
    assert graded(with_settings(**{name: "off"})) == {name: Grade.WRONG}


@pytest.mark.parametrize("value", ["local", "remote_write", "remote_apply"])
def test_a_commit_that_waits_otherwise_is_kept(value: str) -> None:
    assert not graded(with_settings(synchronous_commit=value))


@pytest.mark.parametrize(
    ("compressions", "best"),
    [(("pglz", "lz4", "zstd", "off"), "lz4"), (("off", "on"), "on"), (("pglz", "off"), "pglz")],
)
def test_the_log_is_compressed_by_what_the_server_can_do(compressions: tuple[str, ...], best: str) -> None:
    server = with_settings(wal_compression="off")._replace(compressions=compressions)
    assert graded(server) == {"wal_compression": Grade.ADVICE}
    assert any(f"set it to {best}:" in each.remedy for each in of_server(server))


def test_memory_has_to_hold_the_random_indexes() -> None:
    assert not graded(WELL_SET_UP._replace(random_indexes=4 * GIGABYTE))
    assert graded(WELL_SET_UP._replace(random_indexes=4 * GIGABYTE + 1)) == {"shared_buffers": Grade.ADVICE}


@pytest.mark.parametrize(
    ("server", "is_advised"),
    [
        (with_settings(max_wal_size=str(GIGABYTE)), True),
        (with_settings(checkpoint_timeout="300"), True),
        (WELL_SET_UP._replace(asked_checkpoints=101), True),
        (WELL_SET_UP._replace(asked_checkpoints=100), False),
        (WELL_SET_UP._replace(timed_checkpoints=0, asked_checkpoints=19), False),  # too few to tell
        (WELL_SET_UP._replace(timed_checkpoints=0, asked_checkpoints=20), True),
    ],
)
def test_checkpoints_should_be_rare(server: Server, *, is_advised: bool) -> None:
    assert graded(server) == ({"checkpoints": Grade.ADVICE} if is_advised else {})


async def test_a_server_tells_its_own_settings(pool: Pool) -> None:
    (server, *_) = await read_servers(pool)
    assert server.settings.keys() == WELL_SET_UP.settings.keys()
    assert int(server.settings["shared_buffers"]) >= 16 * 1024 * 1024
    assert int(server.settings["checkpoint_timeout"]) == await pool.fetchval(
        "select setting::int from pg_settings where name = 'checkpoint_timeout'"
    )
    assert "off" in server.compressions
    assert server.random_indexes == await pool.fetchval(
        "select sum(pg_relation_size(oid)) from pg_class where relkind = 'i' and relname ~ '^(transfer|claim)_1_pkey'"
    )
    assert server.timed_checkpoints >= 0
    assert server.asked_checkpoints >= 0


async def test_the_command_tells_each_setting_and_fails_where_one_is_wrong(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    outcome = await abacus("doctor", "--json", env=env)
    found = {each["what"]: each for each in json.loads(outcome.out)}
    is_off = await pool.fetchval("select setting = 'off' from pg_settings where name = 'fsync'")
    assert found["fsync"]["grade"] == ("wrong" if is_off else "good")
    assert outcome.code == int(any(each["grade"] == "wrong" for each in found.values()))

    told = (await abacus("doctor", env=env)).out
    assert ("WRONG: database: fsync: a crash of the machine may ruin the whole ledger" in told) is is_off
