"""Every kind of documents is checked, compared and published in the same way: one contract, which each kind runs."""

import json
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest
import typer

from abacus.cli.main import app
from abacus.core.clock import SystemClock
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from tests.documents import notes, sales
from tests.documents.samples import SAMPLES, Documents, Sample
from tests.support.commands import Ran, abacus
from tests.support.exchanges import enter_partner
from tests.support.staff import hire

NOTE: Final = Sample(
    command="notes",
    name="todo",
    document={"name": "todo", "text": "count"},
    changed={"name": "todo", "text": "count more"},
    change="text: count → count more",
    bad={"name": "to do", "text": "count"},
    path="name",
    another=lambda document: {**document, "name": "done"},
)
SALE: Final = Sample(
    command="sales",
    name="spring",
    document=sales.SPRING,
    changed={**sales.SPRING, "percent": 20},
    change="percent: 10 → 20",
    bad={**sales.SPRING, "percent": 0},
    path="percent",
    another=lambda document: {**document, "name": "summer"},
    asks=True,
)
EVERY: Final = (*SAMPLES.values(), NOTE, SALE)
OWN: Final = {"notes": notes, "sales": sales}  # a kind that the house does not have brings its tables and commands


class Shelf:
    """The commands of one kind, by people who may publish it, and files to publish."""

    def __init__(self, sample: Sample, folder: Path, env: dict[str, str], tokens: dict[str, str]) -> None:
        self.sample = sample
        self._folder = folder
        self._env = env
        self._tokens = tokens

    def file(self, document: Documents, name: str = "draft.json") -> Path:
        file = self._folder / name
        file.write_text(json.dumps(document), encoding="utf-8")
        return file

    async def run(self, *words: str | Path, by: str = "editor") -> Ran:
        if (own := OWN.get(self.sample.command)) is not None:
            return await self._command(*words, by=by, of=own.app)
        return await self._command(self.sample.command, *words, by=by)

    async def published(self, *files: Path) -> list[dict[str, Any]]:
        """The rows of the drafts that were published, or submitted and then approved."""
        ran = await self.run("publish", *files, "--json")
        assert ran.code == 0, ran.err
        rows: list[dict[str, Any]] = ran.json["submitted" if self.sample.asks else "published"]
        for approval in [row["approval"] for row in rows if self.sample.asks]:
            words = ("approve", approval["approval_id"], "--digest", approval["digest"])
            if self.sample.command in OWN:
                approved = await self.run(*words, by="approver")
            else:
                approved = await self._command("approvals", *words, by="approver")
            assert approved.code == 0, approved.err
        return rows

    async def _command(self, *words: str | Path, by: str, of: typer.Typer = app) -> Ran:
        return await abacus(*map(str, words), env={**self._env, "ABACUS_TOKEN": self._tokens[by]}, of=of)


@pytest.fixture(params=EVERY, ids=[each.command for each in EVERY])
async def shelf(request: pytest.FixtureRequest, database_url: str, pool: Pool, tmp_path: Path) -> Shelf:
    sample: Sample = request.param
    env = {"ABACUS_DATABASE_URL": database_url, "COLUMNS": "200"}
    tokens = {
        "editor": await hire(pool, "ann", "country_editor", "operator", "finance"),
        "approver": await hire(pool, "eve", "approver"),
        "viewer": await hire(pool, "kim", "viewer"),
    }
    if (own := OWN.get(sample.command)) is not None:
        owner = await asyncpg.connect(database_url)
        await owner.execute(own.TABLES)
        await owner.close()
    if sample.partner is not None:
        await enter_partner(pool, SystemClock(), sample.partner)
    for need in (SAMPLES[each] for each in sample.needs):
        other = Shelf(need, tmp_path, env, tokens)
        await other.published(other.file(need.document))
    return Shelf(sample, tmp_path, env, tokens)


async def test_lint_says_of_a_file_without_faults_what_it_is(shelf: Shelf) -> None:
    file = shelf.file(shelf.sample.document)
    ran = await shelf.run("lint", file)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{file}: ")
    assert ran.out.endswith(", no faults\n")


async def test_lint_names_every_fault_of_every_file(shelf: Shelf) -> None:
    sample = shelf.sample
    good, bad = shelf.file(sample.document), shelf.file(sample.bad, "bad.json")
    twice, none = shelf.file(sample.document, "twice.json"), good.with_name("none.toml")
    ran = await shelf.run("lint", good, bad, twice, none, "--json")
    assert ran.code == 2
    faults = [(Path(fault["file"]).name, fault["path"]) for fault in ran.json["faults"]]
    assert faults[:2] == [("bad.json", sample.path), ("none.toml", "document")]
    assert [name for name, _ in faults[2:]] == ([] if sample.many else ["twice.json"])
    assert ran.json["valid"] == [str(good), *([str(twice)] if sample.many else [])]


async def test_publishing_says_what_changes_and_gives_the_next_number(shelf: Shelf) -> None:
    sample, file = shelf.sample, shelf.file(shelf.sample.document)
    (first,) = await shelf.published(file)
    assert (first["file"], first["name"], first["against"]) == (str(file), f"{sample.name}@1", None)
    again = await shelf.run("publish", file)
    assert again.code == 2
    assert again.out == f"{file} against {sample.name}@1:\n  nothing changes\n"
    assert again.err.startswith("abacus: nothing to publish: the ")
    (second,) = await shelf.published(shelf.file(sample.changed))
    assert (second["name"], second["against"]) == (f"{sample.name}@2", f"{sample.name}@1")
    assert [line for line in second["changes"] if line.startswith(sample.change)] != []


async def test_of_several_files_all_are_published_or_none(shelf: Shelf, pool: Pool) -> None:
    sample, good = shelf.sample, shelf.file(shelf.sample.document)
    refused = await shelf.run("publish", good, shelf.file(sample.bad, "bad.json"))
    assert (refused.code, refused.out) == (2, "")
    assert f"bad.json: {sample.path}: " in refused.err
    assert (await shelf.run("diff", good)).out.startswith("first version of ") or sample.many
    rows = await shelf.published(good, shelf.file(sample.another(sample.document), "another.json"))
    assert [row["name"].partition("@")[2] for row in rows] == ["1", "1"]
    assert len({row["name"] for row in rows}) == 2


async def test_a_draft_is_compared_with_the_latest_version_and_with_any_other(shelf: Shelf) -> None:
    sample, file = shelf.sample, shelf.file(shelf.sample.document)
    await shelf.published(file)
    assert (await shelf.run("diff", file)).out == f"{file}: nothing changes against {sample.name}@1\n"
    changed = shelf.file(sample.changed, "changed.json")
    await shelf.published(changed)
    ran = await shelf.run("diff", changed, "--against", f"{sample.name}@1", "--json")
    assert ran.json["against"] == f"{sample.name}@1"
    assert [line for line in ran.json["changes"] if line.startswith(sample.change)] != []
    unknown = await shelf.run("diff", changed, "--against", f"{sample.name}@9")
    assert (unknown.code, unknown.out) == (1, "")
    assert f"'{sample.name}@9'" in unknown.err


async def test_what_is_published_is_in_the_log_with_its_changes(shelf: Shelf, pool: Pool) -> None:
    await shelf.published(shelf.file(shelf.sample.document))
    about = [entry for entry in await log(pool) if entry.subject.partition(":")[2] == shelf.sample.name]
    told = [json.loads(entry.details) for entry in about if "changes" in json.loads(entry.details)]
    assert [entry.actor for entry in about] == ["person:ann"] * len(about)
    assert len(told) == 1
    assert told[0]["changes"] != []


async def test_only_who_may_publishes(shelf: Shelf) -> None:
    refused = await shelf.run("publish", shelf.file(shelf.sample.document), by="viewer")
    assert (refused.code, refused.out) == (2, "")
    assert "kim may not " in refused.err
