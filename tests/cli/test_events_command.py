"""`abacus events` as people and scripts use it."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from abacus.platform.postgres import Pool
from abacus.signals.events.decide.source import to_document
from tests.signals.events.weather import TOML, WEATHER
from tests.support.commands import Ran, abacus
from tests.support.staff import hire

pytestmark = pytest.mark.once

Command = Callable[..., Awaitable[Ran]]

FROM_THE_START = ["transactions@0", "points@0", "tiers@0", "places@0"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path, "weather.toml", TOML)


@pytest.fixture
def events(database_url: str) -> Command:
    async def command(*words: str | Path, **env: str) -> Ran:
        return await abacus("events", *map(str, words), env={"ABACUS_DATABASE_URL": database_url, **env})

    return command


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


async def lint(*words: str | Path) -> Ran:
    return await abacus("events", "lint", *map(str, words))


async def test_lint_needs_no_database(file: Path) -> None:
    assert await lint(file) == (0, f"{file}: weather with 2 types, no faults\n", "")


async def test_lint_reads_json_too(tmp_path: Path) -> None:
    file = write(tmp_path, "weather.json", json.dumps(to_document(WEATHER)))
    assert (await lint(file)).code == 0
    ran = await lint(write(tmp_path, "list.json", "[]"), write(tmp_path, "none.json", "{"))
    assert ran.err.splitlines() == [
        f"abacus: {tmp_path}/list.json: document: not a JSON object",
        f"abacus: {tmp_path}/none.json: line 1, column 2: not JSON: Expecting property name enclosed in double quotes",
    ]


async def test_lint_names_every_fault_of_every_file(file: Path, tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.toml", TOML.replace("/city/id", "city/id").replace('"acme"', '"Acme"'))
    twice = write(tmp_path, "twice.toml", TOML)
    theirs = write(tmp_path, "theirs.toml", TOML.replace("weather.observations", "abacus.events.v1"))
    ran = await lint(file, bad, twice, "missing.toml")
    assert ran.code == 2
    assert ran.out == f"{file}: weather with 2 types, no faults\n"
    assert ran.err.splitlines() == [
        f"abacus: {bad}: senders: 'Acme' is not a partner's id; write small letters, digits and dashes (acme)",
        *(
            f"abacus: {bad}: types.{type_}.city_id.pointer: 'city/id' is not a JSON pointer;"
            " write at most 256 characters such as /city/id"
            for type_ in ("rain.drop", "rain.end")
        ),
        "abacus: missing.toml: document: No such file or directory",
        f"abacus: {twice}: source: {file} is a draft of weather too",
    ]
    assert "has the events of all sources" in (await lint(theirs)).err


async def test_publishing_says_what_changes_and_the_new_name(events: Command, file: Path) -> None:
    ran = await events("publish", file)
    assert (ran.code, ran.err) == (0, "")
    assert f"{file} against nothing:\n  first version of weather\n  topic: weather.observations\n" in ran.out
    assert ran.out.endswith("weather@1 published\n")
    write(file.parent, file.name, TOML.replace('drops = "integer"', 'drops = "decimal"'))
    ran = await events("publish", file, "--yes")
    assert ran.out.splitlines() == [
        f"{file} against weather@1:",
        "  types.rain.drop.drops: integer at /drops → decimal at /drops",
        "weather@2 published",
    ]
    ran = await events("publish", file)
    assert (ran.code, ran.err) == (2, "abacus: nothing to publish: the sources are in the store already\n")


async def test_a_fault_in_one_file_and_none_is_published(events: Command, file: Path, tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.toml", TOML.replace('"weather"', '"rain"').replace("substream = true", "substream = 1"))
    same = write(tmp_path, "same.toml", TOML.replace('"weather"', '"rain"'))
    for other, words in (
        (bad, "true or false"),
        (same, "rain.drop: weather takes it from weather.observations already"),
    ):
        ran = await events("publish", file, other)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err
    assert [row["name"] for row in (await events("list", "--json")).json] == FROM_THE_START


async def test_sources_are_listed_and_shown(events: Command, file: Path) -> None:
    await events("publish", file)
    rows = (await events("list", "--json")).json
    assert [row["name"] for row in rows] == [*FROM_THE_START, "weather@1"]
    assert rows[-1]["types"] == ["rain.drop", "rain.end"]
    assert rows[-1]["by"].startswith("login:")
    assert rows[0]["published"] is None
    assert [row["name"] for row in (await events("list", "weather", "--json")).json] == ["weather@1"]
    assert "weather.observations" in (await events("list")).out
    assert (await events("list", "nobody")).code == 1

    shown = (await events("show", "weather", "--json")).json
    assert shown == {"name": "weather@1", "source": to_document(WEATHER)}
    again = write(file.parent, "again.toml", (await events("show", "weather@1", "--toml")).out)
    assert (await events("diff", again)).out.endswith("nothing changes against weather@1\n")
    assert "transaction.refunded" in (await events("show", "transactions")).out
    assert (await events("show", file, "--json")).json == {"name": None, "source": to_document(WEATHER)}
    assert (await events("show", "weather@2")).code == 1


@pytest.mark.parametrize(
    ("role", "code"), [("country_editor", 0), ("operator", 0), ("admin", 0), ("viewer", 2), ("country_editor:SG", 2)]
)
async def test_publishing_takes_a_role_in_all_countries(
    events: Command, pool: Pool, file: Path, role: str, code: int
) -> None:
    token = await hire(pool, "ann", role)
    ran = await events("publish", file, ABACUS_TOKEN=token)
    assert ran.code == code, ran.err
    entries = await pool.fetch("select actor, deed, subject from audit_log where deed = 'publish-sources'")
    assert [tuple(entry) for entry in entries] == [("person:ann", "publish-sources", "source:weather")][code:]
