"""`abacus apply` and `abacus export`: the documents of a house as files, on a real Postgres."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from tests.documents.samples import CAMPAIGNS, CARDS, COUNTERS, DOWNSTREAMS, SAMPLES, SOURCES
from tests.support.commands import Ran, abacus
from tests.support.exchanges import enter_partner
from tests.support.staff import hire

Command = Callable[..., Awaitable[Ran]]
EXPECTED = [
    ("card", None),
    ("source", None),
    ("definition", None),
    ("downstream", None),
    ("categories", None),
    ("policy", None),
    ("map", None),
    ("offer", None),
    ("reward", None),
    ("campaign", None),
    ("journey", None),
    ("programme", None),
    ("accounts", None),
]


@pytest.fixture
async def command(database_url: str, pool: Pool) -> Command:
    await enter_partner(pool, SystemClock())
    tokens = {
        "ann": await hire(pool, "ann", "country_editor", "operator", "finance"),
        "eve": await hire(pool, "eve", "approver"),
        "kim": await hire(pool, "kim", "operator"),
    }

    async def run(*words: str | Path, by: str = "ann") -> Ran:
        return await abacus(*map(str, words), env={"ABACUS_DATABASE_URL": database_url, "ABACUS_TOKEN": tokens[by]})

    return run


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A document of each kind; the counter counts events of the source."""
    for sample in SAMPLES.values():
        write(tmp_path / "house" / sample.command / "first.json", sample.document)
    return tmp_path / "house"


def write(file: Path, document: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document), encoding="utf-8")


async def approve(command: Command, ran: Ran) -> None:
    for row in ran.json["done"]:
        if "approval" in row:
            words = ("approve", row["approval"]["approval_id"], "--digest", row["approval"]["digest"])
            assert (await command("approvals", *words, by="eve")).code == 0


async def test_a_house_is_published_in_the_order_in_which_its_documents_need_each_other(
    command: Command, house: Path, tmp_path: Path
) -> None:
    """And its export changes nothing, in this house and in no file."""
    dry = await command("apply", house, "--dry-run", "--json")
    assert (dry.code, dry.json["done"]) == (1, [])
    assert [(row["kind"], row["against"]) for row in dry.json["changes"]] == EXPECTED
    applied = await command("apply", house, "--json")
    assert applied.code == 0, applied.err
    assert [row["name"] for row in applied.json["done"]] == [
        "SG@1",
        "weather@1",
        "rain@1",
        "coupons@1",
        "SG@1",
        "SG@1",
        "SG@1",
        "lunch_20@1",
        "coffee@1",
        "market@1",
        "welcome@1",
        "skymiles@1",
        "GRP.SG@1",
    ]
    assert "market@1 is submitted: another person approves it with" in applied.err
    await approve(command, applied)

    same = await command("apply", house, "--json")
    assert (same.code, same.json["changes"], same.json["without_file"], same.json["done"]) == (0, [], [], [])
    assert len(same.json["unchanged"]) == len(SAMPLES)
    exported = await command("export", tmp_path / "out", "--json")
    assert exported.code == 0, exported.err
    assert len(exported.json["written"]) == len(SAMPLES)
    assert (await command("apply", tmp_path / "out", "--dry-run")).out == "nothing to publish\n"
    assert (await command("apply", tmp_path / "out", "--dry-run")).code == 0


async def test_what_differs_and_what_has_no_file_is_told(command: Command, house: Path) -> None:
    await approve(command, await command("apply", house, "--json"))
    write(house / "events" / "first.json", SOURCES.changed)
    (house / "downstreams" / "first.json").unlink()
    write(house / "counters" / "second.json", COUNTERS.another(COUNTERS.document))
    dry = await command("apply", house, "--dry-run", "--json")
    assert dry.code == 1
    assert [(row["kind"], row["against"]) for row in dry.json["changes"]] == [
        ("source", "weather@1"),
        ("definition", None),
    ]
    assert dry.json["without_file"] == [{"kind": "downstream", "name": "coupons@1"}]
    assert "downstream coupons@1 is published and has no file" in dry.err
    assert [row["name"] for row in (await command("apply", house, "--json")).json["done"]] == ["weather@2", "snow@1"]
    assert (await command("apply", house, "--dry-run")).code == 1, "the downstream still has no file"


async def test_a_kind_without_a_folder_is_left_alone(command: Command, house: Path, tmp_path: Path) -> None:
    assert (await command("apply", house)).code == 0
    write(tmp_path / "part" / "downstreams" / "first.json", DOWNSTREAMS.document)
    assert (await command("apply", tmp_path / "part", "--dry-run")).out == "nothing to publish\n"
    (tmp_path / "empty").mkdir()
    refused = await command("apply", tmp_path / "empty")
    assert (refused.code, refused.out) == (2, "")
    assert (
        "has no folder of documents; the folders are rates, events, counters, downstreams, categories, contact, "
        "places, offers, rewards, campaigns, journeys, exchanges, accounts" in refused.err
    )


async def test_a_fault_in_any_file_and_nothing_is_published(command: Command, house: Path, pool: Pool) -> None:
    write(house / "counters" / "bad.json", COUNTERS.bad)
    write(house / "campaigns" / "bad.json", {**CAMPAIGNS.bad, "name": "bad"})
    refused = await command("apply", house)
    assert (refused.code, refused.out) == (2, "")
    assert [line.split(": ")[2] for line in refused.err.splitlines()] == [COUNTERS.path, CAMPAIGNS.path]
    assert await pool.fetchval("select count(*) from event_source") == 0


async def test_who_may_not_publish_one_of_them_publishes_none(command: Command, house: Path, pool: Pool) -> None:
    refused = await command("apply", house, by="kim")
    assert refused.code == 2
    assert "kim may not publish rates in SG" in refused.err
    assert await pool.fetchval("select count(*) from event_source") == 0


async def test_what_is_over_is_not_exported(command: Command, house: Path, tmp_path: Path) -> None:
    await approve(command, await command("apply", house, "--json"))
    for words in (
        ("counters", "retire", "rain", "--reason", "over"),
        ("downstreams", "retire", "coupons"),
        ("offers", "end", "lunch_20", "--reason", "over"),
        ("campaigns", "end", "market", "--reason", "over"),
        ("rewards", "end", "coffee", "--reason", "over"),
        ("journeys", "end", "welcome", "--reason", "over"),
        ("exchanges", "end", "skymiles", "--reason", "over"),
    ):
        assert (await command(*words)).code == 0
    assert (await command("export", tmp_path / "out")).code == 0
    files = [str(file.relative_to(tmp_path / "out")) for file in (tmp_path / "out").rglob("*.toml")]
    assert [Path(file).parts[0] for file in sorted(files)] == [
        "accounts",
        "categories",
        "contact",
        "events",
        "places",
        CARDS.command,
    ]
    assert (await command("export", tmp_path / "out")).code == 2
