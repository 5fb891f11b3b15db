"""Verifying the ledger on Postgres: what is sound is clean, and whatever is tampered with is found and named."""

import asyncio
import multiprocessing
import subprocess
import sys
from contextlib import nullcontext

import psutil
import pytest

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.ledger.decide import transfer as transfer_module
from abacus.ledger.decide.chain import FORMATS, chain
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import columns
from abacus.pricing.store.cards import CardStore
from abacus.proof import verify as module
from abacus.proof.decide.report import MOST_FAULTS, Report
from abacus.proof.parts import Span
from abacus.proof.processes import Helpers
from abacus.proof.store import Seals
from abacus.proof.verify import verify
from tests.support.commands import abacus
from tests.support.sealing import RECHECK, earned, fill, tampering

MEMBERS = ["adam", "bob", "eve"]

# As the superuser who does it; each leaves traces, and these are what verifying says of them.
TAMPERINGS = {
    "changed points": (
        "update transfer set points = 600 where member_id = 'bob' and seq = 2",
        [
            "bob GRP #2: balance_after is 144, not 72 + 600",
            "bob GRP #2: the hash does not match the row and the one before it",
            "bob GRP #2: the explanation does not hold: explains 72 points, the transfer has 600",
            "bob GRP #3: the account's earned_total is 216, its transfers come to 744",
        ],
    ),
    "deleted row": (
        "delete from transfer where member_id = 'bob' and seq = 2",
        [
            "bob GRP #3: follows #1: 1 missing before it",
            "bob GRP #3: balance_after is 216, not 72 + 72",
            "bob GRP #3: the hash does not match the row and the one before it",
            "bob GRP #3: the account's earned_total is 216, its transfers come to 144",
            "bob GRP #2: the key txn:meals:bob-2 is claimed for a transfer that is not there",
        ],  # the account's end, and so the seal, is as it was
    ),
    "deleted last row": (
        "delete from transfer where member_id = 'bob' and seq = 3",
        [
            "bob GRP #2: the account's last_seq is 3, its transfers come to 2",
            "bob GRP #2: the account's balance is 216, its transfers come to 144",
            "bob GRP #2: the account's earned_total is 216, its transfers come to 144",
            "bob GRP #2: the account's head_hash is ",
            "bob GRP #3: the key txn:meals:bob-3 is claimed for a transfer that is not there",
            "seal 1: its number of transfers is 9, the ledger comes to 8",
            "seal 1: its root is ",
        ],
    ),
    "inserted row": (
        (
            "insert into transfer select member_id, program, 4, kind, points, balance_after + points, 'txn:meals:gift',"
            " country, occurred_at, posted_at, expires_on, explanation, reverses, actor, xid, hash from transfer"
            " where member_id = 'bob' and seq = 3"
        ),
        [
            "bob GRP #4: the hash does not match the row and the one before it",
            "bob GRP #4: the account's last_seq is 3, its transfers come to 4",
            "bob GRP #4: the account's balance is 216, its transfers come to 288",
            "bob GRP #4: the account's earned_total is 216, its transfers come to 288",
            "bob GRP #4: its key txn:meals:gift is not claimed for it",
            "seal 1: its number of transfers is 9, the ledger comes to 10",
            "seal 1: its root is ",
        ],
    ),
    "swapped order": (
        (
            "update transfer set seq = case seq when 2 then 1 else 2 end + 10 where member_id = 'bob' and seq < 3;"
            "update transfer set seq = seq - 10 where member_id = 'bob' and seq > 10"
        ),
        [
            "bob GRP #1: balance_after is 144, not 0 + 72",
            "bob GRP #1: the hash does not match the row and the one before it",
            "bob GRP #2: balance_after is 72, not 144 + 72",
            "bob GRP #2: the hash does not match the row and the one before it",
            "bob GRP #3: balance_after is 216, not 72 + 72",
            "bob GRP #3: the hash does not match the row and the one before it",
            "bob GRP #1: its key txn:meals:bob-2 is not claimed for it",
            "bob GRP #2: its key txn:meals:bob-1 is not claimed for it",
            "bob GRP #1: the key txn:meals:bob-1 is claimed for a transfer that is not there",
            "bob GRP #2: the key txn:meals:bob-2 is claimed for a transfer that is not there",
        ],
    ),
    "changed explanation": (
        (
            """update transfer set explanation = replace(explanation::text, '"18.00"', '"19.00"')::json"""
            " where member_id = 'bob' and seq = 3"
        ),
        [
            "bob GRP #3: the hash does not match the row and the one before it",
            "bob GRP #3: the explanation does not hold: product is 72.00, not 76.00; points is 72, not 76",
        ],
    ),
    "changed time": (
        "update transfer set occurred_at = occurred_at - interval '1 microsecond' where member_id = 'bob' and seq = 1",
        ["bob GRP #1: the hash does not match the row and the one before it"],
    ),
    "changed balance": (
        "update account set balance = balance + 1 where member_id = 'bob'",
        ["bob GRP #3: the account's balance is 217, its transfers come to 216"],
    ),
    "points held that nobody holds": (
        "update account set held = 5 where member_id = 'bob'",
        ["bob GRP #3: the account's held is 5, its transfers come to 0"],
    ),
    "deleted account": (
        "delete from account where member_id = 'bob'",
        [
            *(f"bob GRP #{seq}: has no account" for seq in (1, 2, 3)),
            "seal 1: its number of accounts is 3, the ledger comes to 2",
            "seal 1: its number of transfers is 9, the ledger comes to 6",
            "seal 1: its root is ",
        ],
    ),
    "invented account": (
        "insert into account (member_id, program, country, balance) values ('carl', 'GRP', 'SG', 50)",
        ["carl GRP #0: the account's balance is 50, its transfers come to 0"],
    ),
    "deleted claim": (
        "delete from claim where key = 'txn:meals:bob-2'",
        ["bob GRP #2: its key txn:meals:bob-2 is not claimed for it"],
    ),
    "invented claim": (
        "insert into claim values ('txn:meals:ghost', 'bob', 'GRP', 9, '00')",
        ["bob GRP #9: the key txn:meals:ghost is claimed for a transfer that is not there"],
    ),
    "claims changed against each other": (
        "update claim set seq = 3 - seq where member_id = 'bob' and seq < 3",
        [
            "bob GRP #1: its key txn:meals:bob-1 is not claimed for it",
            "bob GRP #2: its key txn:meals:bob-2 is not claimed for it",
            "bob GRP #1: the key txn:meals:bob-2 is claimed for a transfer that is not there",
            "bob GRP #2: the key txn:meals:bob-1 is claimed for a transfer that is not there",
        ],
    ),
    "changed root of a seal": (
        r"update seal set root = '\x00' where number = 1",
        [
            "seal 1: its root is 00, the ledger comes to ",
            "seal 1: the hash does not match the row and the one before it",
        ],
    ),
    "changed time of a seal": (
        "update seal set sealed_at = sealed_at - interval '1 day' where number = 1",
        ["seal 1: the hash does not match the row and the one before it"],
    ),
    "a snapshot that hides what came later": (
        "update seal set snapshot = '3:3:' where number = 1",
        [
            "seal 1: its number of accounts is 3, the ledger comes to 0",
            "seal 1: its number of transfers is 9, the ledger comes to 0",
            "seal 1: its root is ",
            "seal 1: the hash does not match the row and the one before it",
        ],
    ),
}


def lines(report: Report) -> list[str]:
    return [str(fault) for fault in report.faults]


@pytest.mark.parametrize("processes", [0, 2])
async def test_a_sound_ledger_is_clean(pool: Pool, database_url: str, processes: int) -> None:
    with Helpers(database_url, processes) if processes else nullcontext() as helpers:
        assert (await verify(pool, RECHECK, helpers=helpers)) == Report()
        await fill(pool, *MEMBERS)
        await Seals(pool, SystemClock()).make()
        await fill(pool, "bob", "carl")
        assert (await verify(pool, RECHECK, helpers=helpers)) == Report(accounts=4, transfers=15, seals=[1])


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_what_is_tampered_with_is_found_and_named(pool: Pool, database_url: str, name: str) -> None:
    await fill(pool, *MEMBERS)
    await Seals(pool, SystemClock()).make()
    statements, expected = TAMPERINGS[name]
    async with tampering(database_url) as superuser:
        await superuser.execute(statements)
    told = lines(await verify(pool, RECHECK))
    assert len(told) == len(expected), told
    for line in expected:
        assert any(each.startswith(line) for each in told), (line, told)


async def test_processes_find_the_same(pool: Pool, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In many small parts, a few keys each."""
    await fill(pool, *(f"m{number:03}" for number in range(60)))
    await Seals(pool, SystemClock()).make()
    async with tampering(database_url) as superuser:
        await superuser.execute("analyze")
        await superuser.execute("update transfer set points = points + 1 where member_id in ('m000', 'm031', 'm059')")
        await superuser.execute("delete from claim where key = 'txn:meals:m007-2'")
        await superuser.execute("delete from account where member_id in ('m020', 'm059')")
    alone = await verify(pool, RECHECK)
    monkeypatch.setattr(module, "_TRANSFERS_A_PART", 10)
    monkeypatch.setattr(module, "_PAGES_A_PART", 1)
    in_parts = await verify(pool, RECHECK)
    told: list[tuple[int, int]] = []
    with Helpers(database_url, 2) as helpers:
        together = await verify(pool, RECHECK, helpers=helpers, progress=lambda *each: told.append(each))
    assert alone == in_parts == together
    assert (alone.accounts, alone.transfers, alone.seals) == (58, 180, [1])
    some = await verify(pool, RECHECK, span=Span("m020", "m040"))
    assert (some.accounts, some.transfers) == (20, 63)
    assert {line.split()[0] for line in lines(some)} == {"m020", "m031"}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (180, 180)
    assert len(told) > 15


async def test_a_consistent_rewrite_is_found_by_the_seal_alone(pool: Pool, database_url: str) -> None:
    """Everything of a member is made to fit by somebody who knows how. Only what was sealed before still differs."""
    await fill(pool, *MEMBERS)
    await Seals(pool, SystemClock()).make()
    await fill(pool, "bob", transfers=1)
    async with tampering(database_url) as superuser:
        await _rewrite(superuser, "bob")
    told = lines(await verify(pool, RECHECK))
    assert len(told) == 1
    assert told[0].startswith("seal 1: its root is ")
    assert (await verify(pool, RECHECK, seals=0)).clean


async def test_a_ledger_of_several_formats(pool: Pool, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of the first format, rows of today's, and rows of a later one whose hash covers a fictitious field."""
    await fill(pool, "bob", transfers=3)
    async with tampering(database_url) as owner:
        await _as_first_format(owner, "bob")
    await fill(pool, "bob", "eve", transfers=2)
    memos = {"txn:meals:bob-6": "a memo"}
    monkeypatch.setitem(FORMATS, 3, lambda body: FORMATS[2](body) + memos.get(body[6], "").encode())
    monkeypatch.setattr(transfer_module, "CURRENT", 3)
    await fill(pool, "bob", "eve", transfers=2)
    formats = await pool.fetch("select format from transfer where member_id = 'bob' order by seq")
    assert [row["format"] for row in formats] == [1, 1, 1, 2, 2, 3, 3]
    assert (await verify(pool, RECHECK)).faults == []
    memos["txn:meals:bob-6"] = "another memo"
    told = [str(fault) for fault in (await verify(pool, RECHECK)).faults]
    assert told == ["bob GRP #6: the hash does not match the row and the one before it"]
    monkeypatch.delitem(FORMATS, 3)
    told = [str(fault) for fault in (await verify(pool, RECHECK)).faults]
    assert told[:2] == [f"bob GRP #{seq}: format 3; this version knows 1, 2" for seq in (6, 7)]


async def _as_first_format(superuser: Connection, member: str) -> None:
    """As its transfers were written before they had a source."""
    rows = await superuser.fetch(f"select {columns(Transfer)} from transfer where member_id = $1 order by seq", member)
    head = b""
    for row in rows:
        transfer = Transfer(*row)._replace(source=None, format=1, explanation=row["explanation"].encode())
        head = chain(head, transfer[:-1])
        await superuser.execute(
            "update transfer set source = null, format = 1, hash = $3 where member_id = $1 and seq = $2",
            *(member, transfer.seq, head),
        )
    await superuser.execute("update account set head_hash = $2 where member_id = $1", member, head)


async def _rewrite(superuser: Connection, member: str) -> None:
    """Twice as many points from the start, with explanations, hashes and sums that fit."""
    rows = await superuser.fetch(f"select {columns(Transfer)} from transfer where member_id = $1 order by seq", member)
    head, balance = b"", 0
    for row in rows:
        twice = earned(member, row["seq"], "40.00")
        balance += twice.points
        facts = {**dict(row), "points": twice.points, "balance_after": balance, "explanation": twice.explanation}
        head = chain(head, tuple(facts[name] for name in Transfer._fields[:-1]))
        await superuser.execute(
            "update transfer set points = $3, balance_after = $4, explanation = $5::text::json, hash = $6"
            " where member_id = $1 and seq = $2",
            *(member, row["seq"], twice.points, balance, twice.explanation.decode(), head),
        )
    await superuser.execute(
        "update account set balance = $2, earned_total = $2, head_hash = $3 where member_id = $1", member, balance, head
    )


@pytest.mark.parametrize(
    ("span", "accounts", "named"),
    [
        (Span("bob", "bob"), 1, {"bob"}),
        (Span("carl"), 1, {"eve"}),
        (Span("", "bob"), 2, {"adam", "bob"}),
        (Span("carl", "dora"), 0, set()),
    ],
)
async def test_only_some_members(pool: Pool, database_url: str, span: Span, accounts: int, named: set[str]) -> None:
    await fill(pool, *MEMBERS)
    await Seals(pool, SystemClock()).make()
    async with tampering(database_url) as superuser:
        await superuser.execute("update account set balance = 1; delete from claim where key like '%-3'")
    report = await verify(pool, RECHECK, span=span)
    assert (report.accounts, report.transfers, report.seals) == (accounts, 3 * accounts, [])
    assert {line.split()[0] for line in lines(report)} == named
    assert len(report.faults) == 2 * len(named)


async def test_what_is_posted_meanwhile_is_not_looked_at(pool: Pool, database_url: str) -> None:
    """All parts see one snapshot: what is posted between two of them would else be a claim without a transfer."""
    await fill(pool, *MEMBERS)
    posting = asyncio.Event()

    async def post() -> None:
        number = 0
        while not posting.is_set():
            number += 1
            await fill(pool, f"new-{number}", "bob", transfers=1)

    poster = asyncio.create_task(post())
    try:
        with Helpers(database_url, 2) as helpers:
            reports = [await verify(pool, RECHECK, helpers=helpers) for _ in range(3)]
    finally:
        posting.set()
        await poster
    assert all(report.clean for report in reports), [lines(report) for report in reports]
    assert reports[0].transfers <= reports[1].transfers <= reports[2].transfers


async def test_many_faults_are_counted(pool: Pool, database_url: str) -> None:
    await fill(pool, *(f"m{number:04}" for number in range(600)), transfers=1)
    async with tampering(database_url) as superuser:
        await superuser.execute("update account set balance = -1, held = 1")
    report = await verify(pool, RECHECK)
    assert (len(report.faults), report.more_faults) == (MOST_FAULTS, 200)


async def test_a_helper_without_a_database_is_unavailable(pool: Pool) -> None:
    with Helpers("postgresql://nobody@127.0.0.1:1/none", 1) as helpers, pytest.raises(Unavailable, match="database"):
        await verify(pool, RECHECK, helpers=helpers)


async def test_a_helper_that_is_killed(pool: Pool, database_url: str) -> None:
    await fill(pool, *MEMBERS)
    with Helpers(database_url, 2) as helpers:
        assert (await verify(pool, RECHECK, helpers=helpers)).clean
        for child in multiprocessing.active_children():
            child.kill()
        with pytest.raises(Unavailable, match="one of its processes was ended"):
            await verify(pool, RECHECK, helpers=helpers)


async def test_helpers_end_with_the_one_they_help(database_url: str) -> None:
    """Even when it is killed."""
    code = (
        "import os, signal, sys\n"
        "from abacus.proof.processes import Helpers\n"
        "if __name__ == '__main__':\n"
        f"    helpers = Helpers({database_url!r}, 1)\n"
        "    print(helpers._executor.submit(os.getpid).result(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ran = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True)
    helper = int(ran.stdout)
    async with asyncio.timeout(20):
        while await asyncio.to_thread(_lives, helper):  # noqa: ASYNC110  # it is another process that ends
            await asyncio.sleep(0.05)


def _lives(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_the_command(pool: Pool, database_url: str) -> None:
    env = {"ABACUS_DATABASE_URL": database_url}
    for card in example_cards():
        await CardStore(pool).publish(card, by="tests", now=SystemClock().now())
    await fill(pool, *MEMBERS)
    await Seals(pool, SystemClock()).make()
    for processes in "12":
        clean = await abacus("ledger", "verify", "--processes", processes, "--json", env=env)
        assert (clean.code, clean.json) == (
            0,
            {"clean": True, "accounts": 3, "transfers": 9, "seals": [1], "faults": [], "more_faults": 0},
        )
    async with tampering(database_url) as superuser:
        await superuser.execute("update account set balance = 1 where member_id in ('bob', 'eve')")
        await superuser.execute("update seal set transfers = 10")
    found = await abacus("ledger", "verify", "--processes", "2", "--seals", "all", env=env)
    assert (found.code, found.out.splitlines()) == (
        1,
        [
            "bob GRP #3: the account's balance is 1, its transfers come to 216",
            "eve GRP #3: the account's balance is 1, its transfers come to 216",
            "seal 1: its number of transfers is 10, the ledger comes to 9",
            "seal 1: the hash does not match the row and the one before it",
            "3 accounts, 9 transfers, 1 seal: 4 faults",
        ],
    )
    member = await abacus("ledger", "verify", "--member", "bob", "--json", env=env)
    assert (member.code, member.json["accounts"], len(member.json["faults"])) == (1, 1, 1)
    some = await abacus("ledger", "verify", "--from", "adam", "--to", "adam", env=env)
    assert (some.code, some.out) == (0, "1 account, 3 transfers: clean\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--member", "bob", "--to", "eve"], "abacus: --member is one; leave out --from and --to"),
        (["--from", "eve", "--to", "bob"], "abacus: --to: 'bob' comes before 'eve', so nobody is meant"),
        (["--seals", "some"], "abacus: --seals: 'some' is neither a number nor `all`"),
        (["--seals", "2", "--from", "bob"], "abacus: --seals: a seal is over all members"),
    ],
    ids=" ".join,
)
async def test_what_is_refused(arguments: list[str], line: str, database_url: str) -> None:
    ran = await abacus("ledger", "verify", *arguments, env={"ABACUS_DATABASE_URL": database_url})
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(line)
    assert ran.err.count("\n") == 1
