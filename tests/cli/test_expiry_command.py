"""`abacus expiry` and the expirer as processes: outputs, refusals, and `kill -9` at any point."""

import csv
import io
import os
from pathlib import Path

import pytest

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.programs.expiry.runs import ExpiryRuns
from tests.support.awards import award
from tests.support.commands import abacus, abacus_process
from tests.support.house import House, until


def lapsing(number: int, **changed: object) -> Award:
    return award(key=f"txn:rides:T-{number}", member_id=f"m{number:05}", points=10, **changed)


async def post(house: House, count: int) -> None:
    ledger = PostgresLedger(house.pool, SystemClock())
    awards = [_explained(lapsing(number)) for number in range(count)]
    for start in range(0, count, 1000):
        await ledger.post(awards[start : start + 1000])


def _explained(each: Award) -> Award:
    return each._replace(explanation=b'{"card":"SG@1","granted_by":"acme","reason":"Welcome","points":10}')


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "--month", "2026-13"], "abacus: '2026-13' is not a month; write it as 2026-07"),
        (["run", "--month", "2099-01"], "abacus: --month: 2099-01 is not over; it will be at 2099-01-31T"),
        (["run", "--month", "2026-07", "--country", "XX"], "abacus: there is no rate card of 'XX'"),
        (["run", "--due", "--month", "2026-07"], "abacus: --due finds the months itself"),
        (["run", "--due", "--country", "Singapore"], "abacus: there is no rate card of 'Singapore'"),
        (["preview", "--month", "July"], "abacus: 'July' is not a month; write it as 2026-07"),
        (["preview", "--month", "2026-07", "--country", "XX"], "abacus: there is no rate card of 'XX'"),
        (["preview", "--month", "2026-07", "--csv", "--json"], "abacus: --csv and --json: choose one"),
    ],
    ids=" ".join,
)
async def test_what_is_refused(house: House, arguments: list[str], line: str) -> None:
    ran = await abacus("expiry", *arguments, env=house.environment())
    assert (ran.code, ran.out) == ((1 if line.startswith("abacus: there is no ") else 2), "")
    assert ran.err.startswith(line)
    assert len(ran.err.splitlines()) == 1


async def test_a_months_end_by_command(house: House) -> None:
    await post(house, 12)
    env = house.environment()
    expected = {"country": "SG", "program": "GRP", "members": 12, "points": 120, "pending": 0}
    assert (await abacus("expiry", "preview", "--month", "2026-07", "--json", env=env)).json == {
        "month": "2026-07",
        "expected": [expected],
    }
    as_csv = await abacus("expiry", "preview", "--month", "2026-07", "--country", "SG", "--csv", env=env)
    assert list(csv.DictReader(io.StringIO(as_csv.out))) == [{name: str(value) for name, value in expected.items()}]
    as_table = await abacus("expiry", "preview", "--month", "2026-07", env=env)
    assert "120" in as_table.out

    begun = await abacus("expiry", "run", "--month", "2026-07", "--country", "SG", "--json", env=env)
    (run,) = begun.json["runs"]
    started = run.pop("started")
    assert run == {
        "country": "SG",
        "month": "2026-07",
        "found": 12,
        "enqueued": 12,
        "expired": 0,
        "skipped": 0,
        "points": 0,
        "finished": None,
    }
    again = await abacus("expiry", "run", "--month", "2026-07", "--country", "SG", env=env)
    assert again.code == 2
    assert again.err.startswith("abacus: SG 2026-07 is under way: all 12 are on the queue and 12 are not expired yet")
    async with house.running("expirer"):
        waited = await abacus(
            "expiry", "run", "--month", "2026-07", "--country", "SG", "--again", "--wait", "--json", env=env
        )
    (run,) = waited.json["runs"]
    assert run.pop("finished") >= run.pop("started") == started
    assert run == {
        "country": "SG",
        "month": "2026-07",
        "found": 12,
        "enqueued": 12,
        "expired": 12,
        "skipped": 0,
        "points": 120,
    }
    assert (await abacus("expiry", "runs", "--json", env=env)).json == waited.json
    assert "done" in (await abacus("expiry", "runs", "--month", "2026-07", env=env)).out
    done = await abacus("expiry", "run", "--month", "2026-07", "--country", "SG", "--json", env=env)
    assert (done.code, done.json) == (0, waited.json)
    explained = await abacus("explain", "expiry:2026-07:m00003:GRP", env=env)
    assert "good until 2026-07-31: of 10 points 0 were held and stay" in explained.out
    assert "recomputed now: same" in explained.out
    assert (await abacus("ledger", "verify", "--json", env=env)).json["clean"]


async def test_what_is_due_is_done_once(house: House) -> None:
    await post(house, 5)
    env = house.environment()
    async with house.running("expirer"):
        first = await abacus("expiry", "run", "--due", "--wait", "--json", env=env)
    by_month = {run["month"]: run for run in first.json["runs"] if run["country"] == "SG"}
    assert by_month["2026-07"]["expired"] == 5
    assert {run["country"] for run in first.json["runs"]} == {"ID", "MY", "PH", "SG", "TH", "VN"}
    assert (await abacus("expiry", "run", "--due", "--json", env=env)).json == {"runs": []}


async def test_what_is_under_way_holds_up_no_other_country(house: House) -> None:
    await post(house, 5)
    env = house.environment()
    assert (await abacus("expiry", "run", "--month", "2026-07", "--country", "SG", env=env)).code == 0
    due = await abacus("expiry", "run", "--month", "2026-07", "--json", env=env)
    assert (due.code, len(due.err.splitlines())) == (2, 1)
    assert due.err.startswith("abacus: SG 2026-07 is under way")
    assert [run["country"] for run in due.json["runs"]] == ["ID", "MY", "PH", "TH", "VN"]


@pytest.mark.long
async def test_kill_9_of_job_and_expirer_in_mid_run(house: House) -> None:
    """However often they are killed: run again, the run ends complete and the ledger is clean."""
    await post(house, 8000)
    runs, env = ExpiryRuns(house.pool), house.environment()
    command = ("expiry", "run", "--month", "2026-07", "--country", "SG", "--again", "--json")

    async def has_begun() -> bool:
        return any(run.enqueued for run in await runs.all())

    async def is_half_done() -> bool:
        return any(run.expired for run in await runs.all())

    async with house.process("expirer") as first:
        job = await house.nursery.born(command, env, log=Path(os.devnull))
        await until(has_begun)
        job.kill()
        await job.wait()
        await until(is_half_done)
        first.kill()
        await first.wait()
    async with house.process("expirer"):
        assert (await abacus_process(*command, "--wait", env=env)).code == 0
    (run,) = await runs.all()
    assert (run.found, run.expired, run.skipped, run.points) == (8000, 8000, 0, 80_000)
    assert await house.pool.fetchval("select sum(balance) from account") == 0
    assert await house.pool.fetchval("select max(expires_on) from account") is None
    assert (await abacus("ledger", "verify", "--json", env=env)).json["clean"]
