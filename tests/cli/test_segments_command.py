"""`abacus segments` as people and scripts use it, on a real Postgres."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from abacus.people.store.audit import log
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from tests.support.commands import Ran, abacus
from tests.support.staff import LOGIN, hire

pytestmark = pytest.mark.once

Segments = Callable[..., Awaitable[Ran]]


@pytest.fixture
async def segments(database_url: str) -> Segments:
    """`abacus segments …`, which prints lines of 160 characters."""

    async def command(*words: str | Path, token: str | None = None) -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "COLUMNS": "160", **({"ABACUS_TOKEN": token} if token else {})}
        return await abacus("segments", *map(str, words), env=env)

    return command


@pytest.fixture
def vip(tmp_path: Path) -> Path:
    return written(tmp_path / "vip.csv", "ann", "bob", "cid")


def written(file: Path, *members: str, header: str = "member_id") -> Path:
    file.write_text("\n".join([header, *members]) + "\n", encoding="utf-8")
    return file


async def members(segments: Segments, label: str, folder: Path) -> list[str]:
    file = folder / f"of-{label}.csv"
    file.unlink(missing_ok=True)
    assert (await segments("export", label, file)).code == 0
    header, *ids = file.read_text().splitlines()
    assert header == "member_id"
    return sorted(ids)


async def test_a_file_is_loaded_once_and_then_changes_nothing(
    segments: Segments, vip: Path, tmp_path: Path, pool: Pool
) -> None:
    assert await segments("load", "vip", vip) == (0, "vip@1 has 3 members: 3 new, 0 gone\n", "")
    assert await segments("load", "vip", vip) == (0, "vip@1 has these 3 members already: nothing changed\n", "")
    written(vip, "cid", "dan")
    ran = await segments("load", "vip", vip, "--json")
    assert ran.json == {
        "changed": True,
        "name": "vip",
        "version": 2,
        "country": None,
        "size": 2,
        "added": 1,
        "removed": 2,
        "lines": 2,
        "bad": 0,
        "faults": [],
    }
    assert await members(segments, "vip", tmp_path) == ["cid", "dan"]
    assert await members(segments, "vip@1", tmp_path) == ["ann", "bob", "cid"]
    entries = await log(pool, deed=Deed.PUBLISH_SEGMENTS)
    assert [(each.actor, each.subject, json.loads(each.details)) for each in entries] == [
        (LOGIN, "segment:vip", {"did": "load", "file": "vip.csv"})
    ] * 2


async def test_columns_headers_and_parquet(segments: Segments, tmp_path: Path) -> None:
    table = pa.table({"customer": ["ann", "bob"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    assert (await segments("load", "a", tmp_path / "a.parquet", "--column", "customer")).code == 0
    bare = written(tmp_path / "bare.csv", "bob", header="ann")
    ran = await segments("load", "b", bare)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.endswith("say --no-header if the first line is a member already\n")
    assert (await segments("load", "b", bare, "--no-header")).out == "b@1 has 2 members: 2 new, 0 gone\n"
    assert await members(segments, "a", tmp_path) == await members(segments, "b", tmp_path) == ["ann", "bob"]


async def test_a_file_with_a_bad_line_changes_nothing(segments: Segments, tmp_path: Path, pool: Pool) -> None:
    bad = written(tmp_path / "bad.csv", "ann", *(f" {each}" for each in range(12)), "bob")
    ran = await segments("load", "vip", bad)
    lines = ran.err.splitlines()
    assert (ran.code, ran.out, len(lines)) == (1, "", 11)
    assert lines[0].startswith("line 3: ' 0' is not a member's id: 1 to 128 printable characters")
    assert lines[-1] == (
        "abacus: 12 bad lines of 14 (2 more than shown); nothing is changed by a file with bad lines, unless with"
        " --skip-bad"
    )
    assert (await segments("list", "--json")).json == []
    assert await pool.fetchval("select count(*) from member_number") == 0
    refused = await segments("load", "vip", bad, "--json")
    assert (refused.code, refused.json["changed"], refused.json["bad"], len(refused.json["faults"])) == (
        1,
        False,
        12,
        10,
    )
    skipped = await segments("load", "vip", bad, "--skip-bad")
    assert (skipped.code, skipped.out) == (1, "vip@1 has 2 members: 2 new, 0 gone; 12 bad lines left out\n")


async def test_members_are_put_in_and_taken_out(segments: Segments, vip: Path, tmp_path: Path, pool: Pool) -> None:
    await segments("load", "vip", vip)
    more = written(tmp_path / "more.csv", "eve", "ann")
    assert (await segments("add", "vip", "dan", "--file", more)).out == "vip@2 has 5 members: 2 new, 0 gone\n"
    assert (await segments("add", "vip", "dan")).out == "vip@2 has these 5 members already: nothing changed\n"
    assert (await segments("remove", "vip", "ann", "nobody")).out == "vip@3 has 4 members: 0 new, 1 gone\n"
    assert (await segments("remove", "vip", "--file", more)).out == "vip@4 has 3 members: 0 new, 1 gone\n"
    assert await members(segments, "vip", tmp_path) == ["bob", "cid", "dan"]
    assert not await pool.fetchval("select exists(select from member_number where member_id = 'nobody')")


@pytest.mark.parametrize(
    ("command", "expected"),
    [("intersect", ["cid"]), ("union", ["ann", "bob", "cid", "dan"]), ("subtract", ["ann", "bob"])],
)
async def test_segments_are_combined(
    segments: Segments, vip: Path, tmp_path: Path, command: str, expected: list[str]
) -> None:
    await segments("load", "vip", vip)
    await segments("load", "new", written(tmp_path / "new.csv", "cid", "dan"))
    ran = await segments(command, "vip", "new", "--into", "both", "--json")
    assert (ran.json["name"], ran.json["version"], ran.json["size"]) == ("both", 1, len(expected))
    assert await members(segments, "both", tmp_path) == expected
    assert (await segments(command, "vip", "new")).code == 0
    assert await members(segments, "vip", tmp_path) == expected


async def test_looking_at_segments(segments: Segments, vip: Path) -> None:
    await segments("load", "vip", vip, "--country", "SG")
    await segments("remove", "vip", "bob")
    (listed,) = (await segments("list", "--json")).json
    assert {name: listed[name] for name in ("name", "version", "country", "size", "how", "by")} == {
        "name": "vip",
        "version": 2,
        "country": "SG",
        "size": 2,
        "how": "remove",
        "by": LOGIN,
    }
    shown = (await segments("show", "vip", "--members", "1", "--json")).json
    assert [each["version"] for each in shown["versions"]] == [2, 1]
    assert len(shown["members"]) == 1
    assert "remove" in (await segments("list")).out
    assert (await segments("show", "vip", "--members", "9")).out.splitlines()[-2:] == ["ann", "cid"]
    assert await segments("has", "vip", "ann") == (0, "ann is in vip@2\n", "")
    assert await segments("has", "vip", "bob") == (1, "bob is not in vip@2\n", "")
    assert await segments("has", "vip", "zoe") == (1, "zoe is not in vip@2\n", "")
    assert (await segments("has", "vip@1", "bob", "--json")).json == {
        "name": "vip",
        "version": 1,
        "member_id": "bob",
        "has": True,
    }


async def test_a_dropped_segment_is_gone(segments: Segments, vip: Path) -> None:
    await segments("load", "vip", vip)
    assert (await segments("drop", "vip")).out == "vip is dropped; 3 members were in it\n"
    assert (await segments("list", "--json")).json == []
    assert await segments("has", "vip", "ann") == (
        1,
        "",
        "abacus: there is no segment 'vip'; `abacus segments list` prints all\n",
    )
    assert (await segments("load", "vip", vip)).out == "vip@3 has 3 members: 3 new, 0 gone\n"


@pytest.mark.parametrize(
    ("words", "code", "err"),
    [
        (["load", "Vip", "FILE"], 2, "'Vip' is no name of a segment: a small letter, then"),
        (["load", "vip", "none.csv"], 2, "none.csv: No such file or directory"),
        (["load", "vip", "FILE", "--column", "x"], 2, "no column 'x'; name the column"),
        (["add", "other", "ann"], 1, "there is no segment 'other'; `abacus segments list` prints all"),
        (["add", "there"], 2, "name members, or a file with --file"),
        (["add", "there", " ann"], 2, "' ann' is not a member's id"),
        (["has", "there", ""], 2, "'' is not a member's id"),
        (
            ["has", "there@7", "ann"],
            1,
            "there is no segment 'there@7'; `abacus segments show there` prints the versions",
        ),
        (["has", "there@", "ann"], 2, "'there@' is no segment; write NAME, or NAME@N"),
        (["intersect", "there", "other"], 1, "there is no segment 'other'"),
        (["intersect", "there", "there", "--into", "To"], 2, "'To' is no name of a segment"),
        (["show", "other"], 1, "there is no segment 'other'; `abacus segments list` prints all"),
        (["drop", "other"], 1, "there is no segment 'other'"),
        (["load", "there", "FILE", "--country", "SG"], 2, "there@1 is of all countries, not of SG; drop it first"),
        (["export", "there", "FILE"], 2, "File exists"),
    ],
)
async def test_a_mistake_is_one_line_with_its_remedy(
    segments: Segments, vip: Path, words: list[str], code: int, err: str
) -> None:
    await segments("load", "there", vip)
    ran = await segments(*(str(vip) if word == "FILE" else word for word in words))
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert err in ran.err
    assert (await segments("show", "there", "--json")).json["versions"][0]["version"] == 1


@pytest.mark.long
async def test_who_may_change_segments(segments: Segments, vip: Path, pool: Pool) -> None:
    viewer, editor = await hire(pool, "vera", "viewer"), await hire(pool, "eddy", "country_editor:SG")
    operator = await hire(pool, "olga", "operator")
    ran = await segments("load", "vip", vip, token=viewer)
    may_not = "may not publish segments in all countries; that takes the role country_editor or operator or admin"
    assert (ran.code, ran.err) == (2, f"abacus: vera {may_not}\n")
    assert (await segments("load", "vip", vip, token=editor)).code == 2
    assert (await segments("load", "vip", vip, "--country", "SG", token=editor)).code == 0
    assert (await segments("add", "vip", "dan", token=editor)).code == 0
    assert (await segments("load", "vip", vip, token=editor)).out == "vip@3 has 3 members: 0 new, 1 gone\n"
    assert (await segments("load", "all", vip, token=operator)).code == 0
    for words in (
        ("add", "all", "dan"),
        ("remove", "all", "ann"),
        ("drop", "all"),
        ("intersect", "all", "vip"),
        ("intersect", "vip", "all", "--into", "all"),
        ("add", "vip", "eve"),
    ):
        assert (await segments(*words, token=viewer if words[1:] == ("vip", "eve") else editor)).code == 2
    assert (await segments("intersect", "vip", "all", token=editor)).code == 0
    assert (await segments("drop", "vip", token=viewer)).code == 2
    assert (await segments("drop", "vip", token=editor)).code == 0
    assert {entry.country for entry in await log(pool, deed=Deed.PUBLISH_SEGMENTS)} == {"SG", None}


async def test_a_dropped_name_is_not_taken_by_those_who_could_not_have_dropped_it(
    segments: Segments, vip: Path, pool: Pool
) -> None:
    editor = await hire(pool, "eddy", "country_editor:SG")
    await segments("load", "vip", vip)
    await segments("drop", "vip")
    assert (await segments("load", "vip", vip, "--country", "SG", token=editor)).code == 2
