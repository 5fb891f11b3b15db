"""A few crashes on the services of the tests; `make crashes` tries them all."""

import asyncio
import subprocess
import sys
import uuid
from pathlib import Path
from signal import SIGKILL

import pytest

from tests.reliability.chaos.crashes.lane import publish_cards
from tests.reliability.chaos.crashes.ledger_works import Awards
from tests.reliability.chaos.crashes.path import Stage, sites_of, stage_of
from tests.reliability.chaos.crashes.relay_works import Transfers, TransfersOfAnother
from tests.reliability.chaos.crashes.run import Crash, Fate, Verdict, Yard, crashes_of
from tests.reliability.chaos.crashes.site import Kind, Point, Side
from tests.reliability.chaos.crashes.work import Work
from tests.support.cluster import Servers
from tests.support.services import Services

DYING = """
import asyncio, sys
from pathlib import Path
from tests.reliability.chaos.crashes.hook import install
from tests.reliability.chaos.crashes.visits import set_watch, wake

install({"abacus.platform.patience"})
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import until_available

async def work():
    print("worked", flush=True)

set_watch(Path(sys.argv[1]), fatal=sys.argv[2])
asyncio.run(until_available(work, WorkerHealth("asleep")))
wake()
asyncio.run(until_available(work, WorkerHealth("awake")))
print("survived", flush=True)
"""


@pytest.mark.parametrize(("side", "said"), [(Side.BEFORE, ["worked"]), (Side.AFTER, ["worked", "worked"])])
async def test_a_worker_dies_at_its_point_and_leaves_a_note(tmp_path: Path, side: Side, said: list[str]) -> None:
    site = next(each for each in sites_of(["abacus.platform.patience"]) if each.text == "action()")
    point, note = Point(site, side).name, tmp_path / "note"
    command = [sys.executable, "-c", DYING, str(note), point]
    died = await asyncio.to_thread(subprocess.run, command, stdout=subprocess.PIPE, text=True, check=False)
    assert died.returncode == -SIGKILL
    assert died.stdout.split() == said
    assert note.read_text(encoding="utf-8") == f"{point}\n"


def test_what_another_work_visits_is_tried_once() -> None:
    visits: dict[type[Work], frozenset[str]] = {
        Transfers: frozenset({"m:f:1.0 await before"}),
        TransfersOfAnother: frozenset({"m:f:1.0 await before", "x"}),
    }
    assert crashes_of(visits) == [Crash(Transfers, "m:f:1.0 await before"), Crash(TransfersOfAnother, "x")]


@pytest.mark.long
@pytest.mark.timeout(600)  # several workers start one after the other, and a busy machine takes its time
async def test_crashes_around_the_commit(services: Services, servers: Servers, template: str, tmp_path: Path) -> None:
    """A crash that cannot happen is reported as missed."""
    commit = next(
        site
        for site in sites_of(["abacus.ledger.store.rows"])
        if stage_of(site) is Stage.COMMIT and site.kind is Kind.LEAVE and "transaction" in site.text
    )
    fatal = [Point(commit, side).name for side in Side]
    name = f"abacus_crashes_{uuid.uuid4().hex[:8]}"
    await servers.administer(f"create database {name} template {template}")
    try:
        await publish_cards(servers.address_of(name))
        await servers.close_off(name)
        told: list[Verdict] = []
        crashes = [Crash(Awards, point) for point in (*fatal, "nowhere:at:0.0 await before")]
        verdicts = await Yard(services, servers, name, tmp_path, lanes=1).crash(crashes, told.append)
    finally:
        await servers.drop(name)
    assert [(verdict.crash.point, verdict.fate, verdict.faults) for verdict in verdicts] == [
        (fatal[0], Fate.HELD, ()),
        (fatal[1], Fate.HELD, ()),
        ("nowhere:at:0.0 await before", Fate.MISSED, ()),
    ]
    assert told == verdicts
