"""A kind of documents that is new takes 200 lines at most, and has everything that the other kinds have.

`test_every_kind.py` runs the contract of documents on it as well.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from abacus.documents.directory import DocumentDirectory
from abacus.documents.store import DocumentStore
from abacus.platform.postgres import Pool
from tests.documents import notes
from tests.documents.notes import NOTES, TABLES, Note, alone
from tests.support.commands import Ran, abacus
from tests.support.staff import hire

Command = Callable[..., Awaitable[Ran]]
NOW = datetime(2026, 11, 26, tzinfo=UTC)


@pytest.fixture
async def store(pool: Pool, database_url: str) -> DocumentStore[Note, None]:
    owner = await asyncpg.connect(database_url)
    await owner.execute(TABLES)
    await owner.close()
    return DocumentStore(pool, NOTES)


@pytest.fixture
async def command(store: DocumentStore[Note, None], pool: Pool, database_url: str) -> Command:
    env = {"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": await hire(pool, "ann", "operator")}

    async def run(*words: str | Path) -> Ran:
        return await abacus(*map(str, words), env=env, of=notes.app)

    return run


def test_it_takes_200_lines_at_most() -> None:
    assert len(Path(notes.__file__).read_text(encoding="utf-8").splitlines()) <= 200


@pytest.mark.long
async def test_it_is_published_listed_shown_and_withdrawn(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "todo.toml"
    file.write_text('name = "todo"\ntext = "count"\n')
    assert (await command("publish", file)).out.endswith("todo@1 published\n")
    (row,) = (await command("list", "--json")).json
    assert row == {"name": "todo", "text": "count", "version": 1, "by": "person:ann"}
    assert (await command("show", "todo", "--toml")).out == file.read_text()
    assert (await command("withdraw", "todo", "done")).out == "todo@1 is withdrawn\n"
    again = await command("withdraw", "todo", "done")
    assert again.code == 2
    assert again.err.startswith("abacus: todo@1 was withdrawn by person:ann at ")
    assert (await command("show", "nothing")).err == (
        "abacus: there is no note 'nothing'; `abacus notes list` prints all\n"
    )


async def test_every_process_keeps_it(store: DocumentStore[Note, None], pool: Pool) -> None:
    """And reads a version once."""
    directory: DocumentDirectory[list[Note]] = DocumentDirectory(pool, NOTES, lambda moment: moment.of(NOTES))
    await store.publish([Note("todo", "count"), Note("done", "all")], alone, by="ann", now=NOW)
    await directory.refresh()
    before = directory.value()
    assert [each.name for each in before] == ["done", "todo"]
    await directory.refresh()
    assert directory.value() is before
    await store.publish([Note("todo", "count more")], alone, by="ann", now=NOW)
    await directory.refresh()
    assert directory.value()[0] is before[0]
    assert directory.value()[1] == Note("todo", "count more", 2)
    await store.withdraw("done", by="ann", reason="over", now=NOW)
    assert [record.version.withdrawal is not None for record in await store.latest()] == [True, False]
