"""`abacus counters` as people and scripts use it, on a real Postgres."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from abacus.platform.postgres import Pool
from tests.support.commands import Ran, abacus
from tests.support.staff import LOGIN, hire

pytestmark = pytest.mark.once

SOURCE = """
source = "weather"
topic = "weather.observations"
[fields]
type = "/type"
id = "/id"
time = "/at"
[types."rain.drop"]
city_id = "text"
amount = "decimal"
"""
RAIN = """
id = 34
name = "count_rain_drops"
template = "rain_drops:city:{city_id}"
on = ["rain.drop"]
"""

Counters = Callable[..., Awaitable[Ran]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "weather.toml").write_text(SOURCE)
    (tmp_path / "rain.toml").write_text(RAIN)
    return tmp_path


@pytest.fixture
async def counters(database_url: str, folder: Path) -> Counters:
    """`abacus counters …` on a database with the source, which prints lines of 160 characters."""

    async def command(*words: str | Path, token: str | None = None) -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "COLUMNS": "160", **({"ABACUS_TOKEN": token} if token else {})}
        return await abacus("counters", *map(str, words), env=env)

    ran = await abacus("events", "publish", str(folder / "weather.toml"), env={"ABACUS_DATABASE_URL": database_url})
    assert ran.code == 0, ran.err
    return command


def write(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


def of_json(file: Path, **changes: object) -> Path:
    document = {"id": 34, "name": "count_rain_drops", "template": "rain_drops:city:{city_id}", "on": ["rain.drop"]}
    return write(file, json.dumps({**document, **changes}))


async def test_lint_by_the_sources_of_files_needs_no_database(folder: Path) -> None:
    rain, weather = folder / "rain.toml", folder / "weather.toml"
    ran = await abacus("counters", "lint", str(rain), "--source", str(weather))
    assert ran == (0, f"{rain}: count_rain_drops counts rain_drops:city:{{city_id}}, no faults\n", "")
    rides = of_json(
        folder / "rides.json", id=7, name="rides", template="rides:{member_id}", on=["transaction.completed"]
    )
    assert (await abacus("counters", "lint", str(rides), "--source", str(weather))).code == 0


async def test_lint_names_every_fault_of_every_file(counters: Counters, folder: Path) -> None:
    await counters("publish", folder / "rain.toml")
    bad = write(folder / "bad.toml", RAIN.replace("city_id", "city").replace("34", "0"))
    clash = of_json(folder / "clash.json", id=9, name="rain", template="rain_dr")
    twice = of_json(folder / "twice.json", keep={"days": "1y"})
    ran = await counters("lint", folder / "rain.toml", twice, bad, clash, folder / "none.toml", "--json")
    assert ran.code == 2
    assert ran.json == {
        "valid": [str(folder / "rain.toml")],
        "faults": [
            {"file": str(bad), "path": "id", "message": "0 is not between 1 and 999999"},
            {
                "file": str(bad),
                "path": "template",
                "message": "{city}: weather/rain.drop has no variable 'city'; did you mean city_id?",
            },
            {"file": str(folder / "none.toml"), "path": "document", "message": "No such file or directory"},
            {"file": str(twice), "path": "id", "message": f"{folder / 'rain.toml'} is a draft of 34 too"},
            {
                "file": str(clash),
                "path": "template",
                "message": "rain begins with 'rain_dr' and count_rain_drops with 'rain_drops:city:': one is the"
                " beginning of the other, so a key could be of both",
            },
        ],
    }


async def test_list_tells_the_state_of_each(counters: Counters, folder: Path, database_url: str) -> None:
    others = [
        of_json(folder / f"{name}.json", id=number, name=name, template=f"{name}:{{city_id}}")
        for number, name in ((1, "over"), (2, "good"))
    ]
    wet = of_json(folder / "wet.json", id=3, name="wet", template="wet", add="var.amount")
    await counters("publish", folder / "rain.toml", *others, wet)
    write(folder / "rain.toml", RAIN + 'keep = {days = "1y"}\n')
    await counters("publish", folder / "rain.toml")
    assert (await counters("retire", "over", "--reason", "nobody asks")).out == (
        "over@1 counts no more; its counts can be asked for until they are forgotten\n"
    )
    source = write(folder / "weather.toml", SOURCE.replace('amount = "decimal"', ""))
    await abacus("events", "publish", str(source), env={"ABACUS_DATABASE_URL": database_url})
    rows = (await counters("list", "--json")).json
    assert [(row["name"], row["state"]) for row in rows] == [
        ("over@1", "retired"),
        ("good@1", "in force"),
        ("wet@1", "misfit"),
        ("count_rain_drops@2", "in force"),
    ]
    assert rows[2]["faults"] == [{"path": "add", "message": "weather/rain.drop has no variable 'amount'"}]
    assert (rows[0]["reason"], rows[0]["retired_by"]) == ("nobody asks", LOGIN)
    rows = (await counters("list", "count_rain_drops", "--json")).json
    assert [(row["name"], row["state"]) for row in rows] == [
        ("count_rain_drops@1", "replaced"),
        ("count_rain_drops@2", "in force"),
    ]
    assert "quarters 8d, hours 60d, days 1y" in (await counters("list")).out


async def test_show_prints_a_file_to_edit(counters: Counters, folder: Path) -> None:
    rule = {"operator": "not", "conditions": [{"operator": "in", "lhs": "var.city_id", "rhs": ["1", "2"]}]}
    await counters("publish", of_json(folder / "rain.json", when=rule, add="var.amount", keep={"hours": "0"}))
    shown = await counters("show", "count_rain_drops@1", "--toml")
    again = write(folder / "again.toml", shown.out)
    assert (await counters("diff", again)).out == f"{again}: nothing changes against count_rain_drops@1\n"
    assert (await counters("show", "count_rain_drops", "--json")).json["definition"]["when"] == rule
    assert "keep.hours" in (await counters("show", "count_rain_drops")).out
    assert (await counters("show", "rain")).code == 1


@pytest.mark.parametrize(
    ("words", "err"),
    [
        (
            ["retire", "rain", "--reason", "x"],
            "abacus: there is no counter 'rain'; `abacus counters list` prints all\n",
        ),
        (["retire", "rain", "--reason", " "], "abacus: --reason: say why\n"),
        (
            ["show", "Rain@0"],
            "abacus: 'Rain@0' does not name a counter; write a name such as rides, or a version such as rides@3\n",
        ),
    ],
)
async def test_what_is_refused(counters: Counters, words: list[str], err: str) -> None:
    assert await counters(*words) == (1 if err.startswith("abacus: there is no ") else 2, "", err)


async def test_who_may_publish_and_retire(counters: Counters, folder: Path, pool: Pool) -> None:
    editor, operator, viewer = [await hire(pool, role, role) for role in ("country_editor", "operator", "viewer")]
    of_one_country = await hire(pool, "ann", "country_editor:SG")
    for token in (viewer, of_one_country):
        ran = await counters("publish", folder / "rain.toml", token=token)
        assert "may not publish counters in all countries; that takes the role" in ran.err
    assert (await counters("publish", folder / "rain.toml", token=editor)).code == 0
    assert (await counters("retire", "count_rain_drops", "--reason", "over", token=viewer)).code == 2
    assert (await counters("retire", "count_rain_drops", "--reason", "over", token=operator)).code == 0
