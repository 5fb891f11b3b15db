"""`abacus campaigns` as country teams use it, on a real Postgres."""

import json
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from abacus.cli.examples import example_cards
from abacus.people.store.audit import log
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.commands import Ran, abacus
from tests.support.house import completed
from tests.support.staff import hire

pytestmark = pytest.mark.once

Command = Callable[..., Awaitable[Ran]]
SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)
MARKET: dict[str, Any] = {
    "name": "market",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": SOON.isoformat(),
    "on": ["transaction.completed"],
    "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "food"},
    "steps": [{"at": 3, "do": [{"award": {"points": 500}}]}],
    "limits": {"runs": {"overall": 1000, "member": 1}},
}


@pytest.fixture
async def staff(pool: Pool) -> dict[str, str]:
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=datetime.now(UTC))
    return {name: await hire(pool, name, role) for name, role in EMPLOYED.items()}


EMPLOYED = {"ann": "country_editor:SG", "eve": "approver:SG", "kim": "country_editor:ID"}


@pytest.fixture
def command(database_url: str, staff: dict[str, str]) -> Command:
    async def run(*words: str | Path, by: str | None = "ann") -> Ran:
        env = {"ABACUS_DATABASE_URL": database_url, "COLUMNS": "200"}
        if by is not None:
            env["ABACUS_TOKEN"] = staff[by]
        return await abacus(*map(str, words), env=env)

    return run


def write(folder: Path, **changes: Any) -> Path:
    file = folder / "market.json"
    file.write_text(json.dumps({**MARKET, **changes}))
    return file


async def state(command: Command) -> str:
    (row,) = (await command("campaigns", "list", "--json")).json
    return f"{row['name']} {row['state']}"


@pytest.mark.long
async def test_a_campaign_from_its_draft_to_its_end(command: Command, pool: Pool, tmp_path: Path) -> None:
    file = write(tmp_path)
    assert (await command("campaigns", "lint", file)).out == f"{file}: market of SG, no faults\n"
    published = await command("campaigns", "publish", file, "--json")
    assert published.code == 0, published.err
    (row,) = published.json["submitted"]
    assert await state(command) == "market@1 submitted"

    own = await command("approvals", "approve", row["approval"]["approval_id"], "--digest", row["approval"]["digest"])
    assert own.code == 2
    words = ("approvals", "approve", row["approval"]["approval_id"], "--digest", row["approval"]["digest"])
    approved = await command(*words, by="eve")
    assert approved.code == 0, approved.err
    assert await state(command) == "market@1 running"

    assert (await command("campaigns", "pause", "market", "--reason", "look")).out == "market@1 is paused\n"
    assert (await command("campaigns", "pause", "market", "--reason", "look")).code == 2
    assert (await command("campaigns", "resume", "market", "--reason", "fine")).out == "market@1 is running\n"
    assert (await command("campaigns", "publish", file)).err.endswith("the campaigns are there already\n")
    ended = await command("campaigns", "end", "market", "--reason", "enough")
    assert ended.out == "market@1 is ended\n"
    deeds = [json.loads(entry.details)["did"] for entry in await log(pool) if entry.deed == "edit-campaigns"]
    assert deeds[::-1] == ["draft", "submit", "ask", "pause", "resume", "end"]


async def test_a_change_is_a_version_which_takes_over_when_it_is_approved(command: Command, tmp_path: Path) -> None:
    async def publish(**changes: Any) -> dict[str, Any]:
        ran = await command("campaigns", "publish", write(tmp_path, **changes), "--json")
        assert ran.code == 0, ran.err
        (row,) = ran.json["submitted"]
        approval: dict[str, Any] = row["approval"]
        return approval

    async def approve(approval: dict[str, Any]) -> Ran:
        words = ("approvals", "approve", approval["approval_id"], "--digest", approval["digest"])
        return await command(*words, by="eve")

    assert (await approve(await publish())).code == 0
    first = await publish(limits={"runs": {"overall": 5}})
    second = await publish(limits={"runs": {"overall": 6}})
    assert (await approve(first)).code == 2, "another version was submitted since"
    versions = (await command("campaigns", "list", "market", "--json")).json
    assert [(row["name"], row["state"]) for row in versions] == [
        ("market@1", "running"),
        ("market@2", "ended"),
        ("market@3", "submitted"),
    ]
    assert (await approve(second)).code == 0
    versions = (await command("campaigns", "list", "market", "--json")).json
    assert [(row["state"], row["reason"]) for row in versions] == [
        ("ended", "replaced by market@3"),
        ("ended", "replaced by market@3"),
        ("running", None),
    ]
    changes = await command("campaigns", "diff", write(tmp_path), "--json")
    assert changes.json["changes"] == [
        'limits.runs: {"overall": 6} → {"overall": 1000, "member": 1}',
    ]


async def test_who_may_not(command: Command, tmp_path: Path) -> None:
    """Nor may a name be taken over by another country, or a version run without its approval."""
    refused = await command("campaigns", "publish", write(tmp_path), by="kim")
    assert (refused.code, refused.out) == (2, "")
    assert "kim may not edit campaigns in SG" in refused.err
    assert (await command("campaigns", "publish", write(tmp_path))).code == 0
    taken = await command("campaigns", "publish", write(tmp_path, country="ID"), by="kim")
    assert taken.err.endswith("market is a campaign of SG: write another name\n")
    resumed = await command("campaigns", "resume", "market", "--reason", "now")
    assert resumed.err.endswith("market@1 is submitted, so it cannot be resumed\n")
    assert await state(command) == "market@1 submitted"


async def test_a_login_submits_nothing(command: Command, pool: Pool, tmp_path: Path) -> None:
    """Nobody could approve it."""
    file = write(tmp_path)
    refused = await command("campaigns", "publish", file, by=None)
    assert (refused.code, refused.out) == (2, "")
    assert "is a login and no person" in refused.err
    assert await pool.fetchval("select count(*) from campaign") == 0
    assert (await command("campaigns", "publish", file)).code == 0
    assert (await command("campaigns", "withdraw", "market", "--reason", "no")).code == 0
    assert (await command("campaigns", "submit", "market", by=None)).code == 2
    assert await state(command) == "market@1 draft"


async def test_of_several_files_all_are_submitted_or_none(
    command: Command, staff: dict[str, str], pool: Pool, tmp_path: Path
) -> None:
    """A fault may be seen only beside what is published: a name that is another country's, or a circle of events."""
    assert (await command("campaigns", "publish", write(tmp_path))).code == 0
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps({**MARKET, "name": "good"}))
    bad.write_text(json.dumps({**MARKET, "country": "ID", "timezone": "Asia/Jakarta"}))
    staff["bea"] = await hire(pool, "bea", "country_editor:SG", "country_editor:ID")
    refused = await command("campaigns", "publish", good, bad, by="bea")
    assert (refused.code, refused.out.count("is submitted")) == (2, 0)
    assert refused.err == "abacus: market is a campaign of SG: write another name\n"
    assert await pool.fetchval("select count(*) from campaign") == 1
    assert await pool.fetchval("select count(*) from approval") == 1
    bad.write_text(json.dumps({**MARKET, "name": "other"}))
    assert (await command("campaigns", "publish", good, bad)).out.count("is submitted") == 2


@pytest.mark.parametrize("ahead", [timedelta(minutes=4), timedelta(minutes=6), timedelta(days=300)])
async def test_an_event_to_come_is_refused(command: Command, tmp_path: Path, ahead: timedelta) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({**completed(1), "occurred_at": (datetime.now(UTC) + ahead).isoformat()}))
    refused = await command("campaigns", "simulate", write(tmp_path), "--event", event)
    assert (refused.code, refused.out) == (2, "")
    assert re.fullmatch(r"abacus: .*event.json: .* still to come\n", refused.err)


async def test_a_campaign_is_tried_by_people_of_its_country(command: Command, tmp_path: Path) -> None:
    event, file = tmp_path / "event.json", write(tmp_path)
    event.write_text(json.dumps({**completed(1), "occurred_at": datetime.now(UTC).isoformat()}))
    assert (await command("campaigns", "simulate", file, "--event", event)).code == 0
    window = ("--from", "2026-03-01T00:00:00Z", "--to", "2026-03-02T00:00:00Z")
    for words in (("simulate", file, "--event", event), ("backtest", file, *window)):
        refused = await command("campaigns", *words, by="kim")
        assert (refused.code, refused.err.startswith("abacus: kim may not see in SG;")) == (2, True)


async def test_a_campaign_is_shown_as_a_file_to_edit(command: Command, tmp_path: Path) -> None:
    await command("campaigns", "publish", write(tmp_path))
    shown = await command("campaigns", "show", "market", "--toml")
    again = tmp_path / "again.toml"
    again.write_text(shown.out)
    assert (await command("campaigns", "diff", again)).out.endswith("nothing changes against market@1\n")
    assert (await command("campaigns", "show", "nothing")).code == 1
