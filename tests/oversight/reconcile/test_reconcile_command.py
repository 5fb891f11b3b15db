"""The command `reconcile`: it files the account, waits for messages on their way, refuses bad windows."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.oversight.reconcile.reconciling import MESSAGES, SECOND_TRANSFER, as_owner, processed
from tests.support.commands import abacus
from tests.support.house import House, completed
from tests.support.staff import LOGIN


@pytest.mark.long
async def test_the_command_files_the_account(house: House, database_url: str, tmp_path: Path) -> None:
    env, filed = house.environment(), tmp_path / "account.json"
    async with processed(house):
        command = ("reconcile", "--from", "2026-01-01T00:00:00+08:00")
        ran = await abacus(*command, "--out", str(filed), "--json", "--wait", "1", env=env)
        assert ran.code == 0
        assert ran.json == json.loads(filed.read_text())
        assert (ran.json["comes_out"], ran.json["by"], ran.json["from"]) == (
            True,
            LOGIN,
            "2025-12-31T16:00:00+00:00",
        )
        assert sum(each["messages"] for each in ran.json["partitions"]) == ran.json["messages"] == len(MESSAGES) + 1
        shown = await abacus(*command, env=env)
        assert "12 messages: it comes out" in shown.out
        await as_owner(database_url, SECOND_TRANSFER)
        broken = await abacus(*command, env=env)
    assert broken.code == 1
    assert "doubled: txn:rides:T-1" in broken.out
    assert "IT DOES NOT COME OUT" in broken.out


@pytest.mark.long
async def test_waiting_ends_when_nothing_is_on_its_way(house: House) -> None:
    await house.produce([completed(1)])
    command = ("reconcile", "--from", "2026-01-01T00:00:00Z", "--json")
    at_once = await abacus(*command, env=house.environment())
    assert (at_once.code, at_once.json["verdicts"], at_once.json["on_the_way"]) == (0, {"in flight": 1}, 1)
    waiting = asyncio.create_task(abacus(*command, "--wait", "50", env=house.environment()))
    async with house.running("calculator", "awarder", "relay"):
        waited = await waiting
    assert (waited.code, waited.json["verdicts"], waited.json["on_the_way"]) == (0, {"awarded": 1}, 0)


REFUSED = {
    "to come": ("2126-01-01T00:00:00Z", None, "a window begins before it ends, and is over"),
    "backwards": ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "a window begins before it ends, and is over"),
    "no time": ("yesterday", None, "--from: 'yesterday' is not a time like"),
    "no offset": ("2026-01-01T00:00:00", None, "--from: '2026-01-01T00:00:00' has no offset"),
    "no topic": ("2026-01-01T00:00:00Z", None, "there is no topic"),
}


async def test_where_the_document_cannot_be_written_is_said_before_the_work(house: House, tmp_path: Path) -> None:
    nowhere = tmp_path / "none" / "account.json"
    ran = await abacus("reconcile", "--from", "2026-01-01T00:00:00Z", "--out", str(nowhere), env=house.environment())
    assert (ran.code, ran.err) == (2, f"abacus: --out: {nowhere}: No such file or directory\n")


@pytest.mark.parametrize(("start", "end", "line"), REFUSED.values(), ids=REFUSED)
async def test_what_is_no_window_is_refused(house: House, start: str, end: str | None, line: str) -> None:
    ran = await abacus("reconcile", "--from", start, *(["--to", end] if end else []), env=house.environment())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"abacus: {line}")
    assert ran.err.count("\n") == 1
