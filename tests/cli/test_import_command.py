"""`abacus import accounts`: balances are imported once, bad lines refused, and `kill -9` in the middle does no harm."""

import asyncio
import csv
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from tests.support.awards import award
from tests.support.commands import Ran, abacus, abacus_process
from tests.support.house import House, until
from tests.support.paths import DOCS
from tests.support.staff import LOGIN

pytestmark = pytest.mark.once

EXAMPLE = DOCS / "examples" / "opening-balances.csv"
HEADER = "member_id,program,country,balance,expires_on\n"


def written(path: Path, *lines: str, header: str = HEADER) -> Path:
    path.write_bytes((header + "".join(f"{line}\n" for line in lines)).encode("utf-8", "surrogateescape"))
    return path


def command(file: Path, *options: str, source: str = "oldsystem") -> tuple[str, ...]:
    return ("import", "accounts", str(file), "--source", source, *options)


async def bring(house: House, file: Path, *options: str, source: str = "oldsystem") -> Ran:
    return await abacus(*command(file, *options, source=source), env=house.environment())


async def balances(house: House) -> dict[tuple[str, str], tuple[int, str | None]]:
    rows = await house.pool.fetch("select member_id, program, balance, expires_on from account")
    return {(row[0], row[1]): (row[2], row[3] and str(row[3])) for row in rows}


async def is_clean(house: House) -> bool:
    return bool((await abacus("ledger", "verify", "--json", env=house.environment())).json["clean"])


def counts(ran: Ran) -> dict[str, Any]:
    names = ("imported", "lines", "new", "points", "already", "bad")
    return {name: ran.json[name] for name in names}


async def test_an_id_that_deceives_is_no_new_members(house: House, tmp_path: Path) -> None:
    """A member of before keeps it. Checking tells of it, so nothing is imported."""
    await house.pool.execute("insert into account (member_id, program, country) values ('=old', 'GRP', 'SG')")
    lines = (
        "=old,OVO,ID,300,2099-06-30",
        "=1+1,GRP,SG,10,2099-06-30",
        "bo\u200bb,GRP,SG,10,2099-06-30",
        "bob,GRP,SG,10,2099-06-30",
    )
    ran = await bring(house, written(tmp_path / "a.csv", *lines), "--json")
    assert (ran.code, counts(ran)) == (
        1,
        {"imported": False, "lines": 4, "new": 2, "points": 310, "already": 0, "bad": 2},
    )
    told = {each["line"]: each["problem"] for each in ran.json["faults"]}
    assert "begins with =" in told[3]
    assert "zero width space" in told[4]
    assert (await bring(house, written(tmp_path / "b.csv", lines[0], lines[3]))).code == 0


async def test_the_example_of_the_docs(house: House) -> None:
    dry = await bring(house, EXAMPLE, "--dry-run", "--json")
    would = {"lines": 5, "new": 5, "points": 16630, "already": 0, "bad": 0}
    assert (dry.code, counts(dry)) == (0, {"imported": False} | would)
    assert await balances(house) == {}

    done = await bring(house, EXAMPLE, "--json")
    assert (done.code, counts(done)) == (0, {"imported": True} | would)
    assert await balances(house) == {
        ("ina", "GRP"): (1250, "2099-06-30"),
        ("ina", "OVO"): (300, "2099-06-30"),
        ("isla", "GRP"): (80, "2099-09-30"),
        ("dewi", "OVO"): (15000, "2099-12-31"),
        ("ike", "GRP"): (0, None),
    }
    again = await bring(house, EXAMPLE)
    assert (again.code, again.out.strip()) == (
        0,
        "5 lines: 0 imported with 0 points, 5 already there",
    )
    explained = await abacus("explain", "import:oldsystem:ina:GRP", env=house.environment())
    assert f"adjusted by {LOGIN} (import:oldsystem): opening balance" in explained.out
    assert "recomputed now: same" in explained.out
    assert await is_clean(house)


def test_the_docs_show_the_example_as_it_is() -> None:
    shown = (DOCS / "operate/import.md").read_text(encoding="utf-8")
    assert textwrap.indent(EXAMPLE.read_text(encoding="utf-8"), "    ") in shown


async def test_another_source_is_another_balance(house: House) -> None:
    await bring(house, EXAMPLE)
    other = await bring(house, EXAMPLE, "--json", source="shop")
    assert counts(other)["new"] == 5
    assert (await balances(house))["ina", "GRP"] == (2500, "2099-06-30")
    assert await is_clean(house)


async def test_a_member_who_has_an_account(house: House, tmp_path: Path) -> None:
    await PostgresLedger(house.pool, SystemClock()).post(
        [award(explanation=b'{"card":"SG@1","granted_by":"acme","reason":"Welcome","points":180}')]
    )
    ran = await bring(house, written(tmp_path / "one.csv", "bob,GRP,SG,20,2099-06-30"), "--json")
    assert counts(ran)["new"] == 1
    assert (await balances(house))["bob", "GRP"] == (200, "2026-07-31")
    assert await is_clean(house)


async def test_a_bad_line_keeps_the_whole_file_out(house: House, tmp_path: Path) -> None:
    file = written(
        tmp_path / "some.csv",
        "bob,GRP,SG,-5,2099-06-30",
        "carol,GRP,SG,5,2099-06-30",
        "",
        "dave,GRP,SG,5",
        'erin,GRP,SG,"5,2099-06-30',
        'x",2099-06-30',
        "fr\udcffed,GRP,SG,5,2099-06-30",
        "carol,GRP,SG,5,2099-06-30",
        "carol,GRP,SG,6,2099-06-30",
    )
    errors = tmp_path / "errors.csv"
    ran = await bring(house, file, "--errors", str(errors))
    assert ran.code == 1
    assert "nothing is imported from a file with bad lines" in ran.out
    assert ran.err.splitlines() == [
        "line 2: balance: '-5' is not a whole number of points, 0 or more",
        "line 5: 4 fields, and there are 5 columns",
        "line 6: balance: '5,2099-06-30\\nx' is not a whole number of points, 0 or more",
        "line 8: member_id: 'fr\\udcffed' is not UTF-8",
        "line 10: member_id: line 3 has this member and program with other facts",
    ]
    with errors.open(encoding="utf-8", newline="") as opened:
        assert [row["line"] for row in csv.DictReader(opened)] == ["2", "5", "6", "8", "10"]
    assert await balances(house) == {}

    skipped = await bring(house, file, "--skip-bad", "--json")
    assert (skipped.code, counts(skipped)) == (
        1,
        {"imported": True, "lines": 7, "new": 1, "points": 5, "already": 1, "bad": 5},
    )
    assert [fault["line"] for fault in skipped.json["faults"]] == [2, 5, 6, 8, 10]
    assert await balances(house) == {("carol", "GRP"): (5, "2099-06-30")}


async def test_other_facts_than_before(house: House, tmp_path: Path) -> None:
    await bring(house, written(tmp_path / "a.csv", "bob,GRP,SG,20,2099-06-30"))
    for changed in ("bob,GRP,SG,21,2099-06-30", "bob,GRP,MY,20,2099-06-30", "bob,GRP,SG,20,2099-07-31"):
        ran = await bring(house, written(tmp_path / "b.csv", changed), "--dry-run", "--json")
        assert (ran.code, ran.json["bad"]) == (1, 1)
        assert ran.json["faults"] == [
            {
                "line": 2,
                "field": "member_id",
                "problem": "'bob' was imported into GRP from oldsystem before, with other facts",
            }
        ]
    assert (await balances(house))["bob", "GRP"] == (20, "2099-06-30")


async def test_lines_about_one_account_are_never_apart(house: House, tmp_path: Path) -> None:
    """Two writers would work on them at once: there are more than a page takes, and they begin at the end of a page."""
    crowd = [f"a{number:05},GRP,SG,1,2099-06-30" for number in range(1999)]
    same = ["bob,GRP,SG,5,2099-06-30"] * 2500
    ran = await bring(house, written(tmp_path / "c.csv", *crowd, *same, "bob,GRP,SG,6,2099-06-30"), "--json")
    assert (ran.json["new"], ran.json["already"], ran.json["bad"]) == (2000, 2499, 1)


async def test_parquet(house: House, tmp_path: Path) -> None:
    with EXAMPLE.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    columns = {name: [row[name] for row in rows] for name in HEADER.strip().split(",")}
    days = pa.array([day or None for day in columns["expires_on"]]).cast(pa.date32())
    table = pa.table(columns | {"balance": pa.array([int(each) for each in columns["balance"]]), "expires_on": days})
    parquet.write_table(table, tmp_path / "balances.parquet", row_group_size=2)
    ran = await bring(house, tmp_path / "balances.parquet", "--json")
    assert (counts(ran)["new"], counts(ran)["points"]) == (5, 16630)
    assert counts(await bring(house, EXAMPLE, "--json"))["already"] == 5, "the same facts in another form"

    floats = table.set_column(3, "balance", pa.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    parquet.write_table(floats, tmp_path / "floats.parquet")
    ran = await bring(house, tmp_path / "floats.parquet", "--json", source="shop")
    assert (ran.code, ran.json["bad"]) == (1, 5)
    assert ran.json["faults"][0]["problem"] == "'1.0' is not a whole number of points, 0 or more"


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.csv", "", "a.csv: it is empty; the first line has to name member_id, program"),
        ("a.csv", "member_id,balance\n", "a.csv: no column 'program'; no column 'country'"),
        ("a.csv", HEADER.strip() + ",tier\n", "a.csv: the column 'tier': tiers are not imported"),
        ("a.parquet", "not parquet", "a.parquet: "),
        ("a.csv", None, "a.csv: No such file or directory"),
    ],
)
async def test_a_file_that_is_refused(house: House, tmp_path: Path, name: str, content: str | None, line: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    ran = await bring(house, tmp_path / name)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("abacus: ")
    assert line in ran.err
    assert ran.err.count("\n") == 1


async def test_a_source_has_no_colon(house: House) -> None:
    ran = await bring(house, EXAMPLE, source="old:system")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("abacus: --source: 'old:system' is not a name")


@pytest.mark.long
async def test_killed_and_run_again(house: House, tmp_path: Path) -> None:
    count = 30_000
    file = written(tmp_path / "many.csv", *(f"m{number:06},GRP,SG,7,2099-06-30" for number in range(count)))
    job = await asyncio.create_subprocess_exec(sys.executable, "-m", "abacus", *command(file), env=house.environment())

    async def has_begun() -> bool:
        return await house.transfers() > 0

    await until(has_begun)
    job.kill()
    await job.wait()
    # The server notices a while later; its last transaction is committed or rolled back before we look.
    await until(lambda: _nobody_posts(house))
    there = await house.transfers()
    assert 0 < there < count
    ran = await bring(house, file, "--json")
    assert counts(ran) == {
        "imported": True,
        "lines": count,
        "new": count - there,
        "points": 7 * (count - there),
        "already": there,
        "bad": 0,
    }
    assert await house.pool.fetchval("select sum(balance) from account") == 7 * count


async def _nobody_posts(house: House) -> bool:
    query = (
        "select count(*) from pg_stat_activity where datname = current_database() and state <> 'idle'"
        " and pid <> pg_backend_pid()"
    )
    return not await house.pool.fetchval(query)


@pytest.mark.long
async def test_two_at_once_are_as_one(house: House, tmp_path: Path) -> None:
    file = written(tmp_path / "many.csv", *(f"m{number:06},GRP,SG,7,2099-06-30" for number in range(5000)))
    ran = await asyncio.gather(*(abacus_process(*command(file, "--json"), env=house.environment()) for _ in range(2)))
    assert sum(each.json["new"] for each in ran) == 5000
    assert sum(each.json["new"] + each.json["already"] for each in ran) == 10_000
    assert await house.pool.fetchval("select sum(balance) from account") == 35_000
    assert await is_clean(house)


async def test_what_is_imported_is_published(house: House) -> None:
    await bring(house, EXAMPLE)
    async with house.running("relay"):

        async def is_published() -> bool:
            status = await abacus("relay", "status", "--json", env=house.environment())
            return bool(json.loads(status.out)["waiting"] == 0)

        await until(is_published)
