"""A few crashes on the services of the tests; `make crashes` tries them all."""

import asyncio
import subprocess
import sys
import uuid
from pathlib import Path
from signal import SIGKILL

import pytest

from tests.reliability.chaos.crashes.crossing import Side
from tests.reliability.chaos.crashes.lane import publish_cards
from tests.reliability.chaos.crashes.ledger_works import Awards
from tests.reliability.chaos.crashes.run import Crash, Fate, Verdict, Yard, sample_of
from tests.support.cluster import Servers
from tests.support.services import Services

DYING = """
import asyncio, sys
from pathlib import Path
import asyncpg
from tests.reliability.chaos.crashes.boundary import watch
from tests.reliability.chaos.crashes.visits import set_watch, wake

async def work():
    connection = await asyncpg.connect(sys.argv[1])
    await connection.execute("create temporary table note (said text)")
    async with connection.transaction():
        await connection.execute("insert into note values ('worked')")
        print("worked", flush=True)
    print("committed", flush=True)

watch()
set_watch(Path(sys.argv[2]), fatal=sys.argv[3])
asyncio.run(work())
wake()
asyncio.run(work())
print("survived", flush=True)
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("fatal", "said"),
    [
        ("database: insert note before", []),
        ("database: insert note after", []),
        ("database: commit of insert note before", ["worked"]),
        ("database: commit of insert note after", ["worked"]),
    ],
)
async def test_a_worker_dies_at_its_point_and_leaves_a_note(
    services: Services, tmp_path: Path, fatal: str, said: list[str]
) -> None:
    note = tmp_path / "note"
    command = [sys.executable, "-c", DYING, services.database_url, str(note), fatal]
    died = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, text=True, check=False)
    assert died.returncode == -SIGKILL
    assert died.stdout.split() == ["worked", "committed", *said]
    assert note.read_text(encoding="utf-8") == f"{fatal}\n"


@pytest.mark.long
@pytest.mark.night
@pytest.mark.timeout(600)  # several workers start one after the other, and a busy machine takes its time
async def test_crashes_around_the_commit(services: Services, servers: Servers, template: str, tmp_path: Path) -> None:
    """A crash that cannot happen is reported as missed."""
    name = f"abacus_crashes_{uuid.uuid4().hex[:8]}"
    await servers.administer(f"create database {name} template {template}")
    try:
        await publish_cards(servers.address_of(name))
        await servers.close_off(name)
        told: list[Verdict] = []
        yard = Yard(services, servers, name, tmp_path, lanes=1)
        visited = (await yard.visits([Awards]))[Awards]
        fatal = sorted(point for point in visited if "commit of" in point and "insert transfer" in point)[:2]
        crashes = [Crash(Awards, point) for point in (*fatal, "nowhere before")]
        verdicts = await yard.crash(crashes, told.append)
    finally:
        await servers.drop(name)
    assert [(verdict.crash.point, verdict.fate, verdict.faults) for verdict in verdicts] == [
        *((point, Fate.HELD, ()) for point in fatal),
        ("nowhere before", Fate.MISSED, ()),
    ]
    assert len(fatal) == len(Side)
    assert told == verdicts


def test_a_sample_by_a_seed_is_the_same_where_one_point_was_not_visited() -> None:
    crashes = [Crash(Awards, f"point {number}") for number in range(40)]
    sample = sample_of(crashes, 8, seed=1)
    assert sorted(sample, key=crashes.index) == sample
    assert len(sample) == 8
    assert sample_of(crashes, None, seed=1) == crashes
    assert sample_of(crashes, 8, seed=2) != sample
    left_out = next(crash for crash in crashes if crash not in sample)
    assert sample_of([crash for crash in crashes if crash != left_out], 8, seed=1) == sample
    assert set(sample) - {sample[0]} < set(sample_of([crash for crash in crashes if crash != sample[0]], 8, seed=1))
