"""Verifying the ledger on Postgres: a sound ledger is clean, and every tampering is named."""

import asyncio
from contextlib import nullcontext

import pytest

from abacus.core.clock import SystemClock
from abacus.ledger.decide.chain import FORMATS, chain
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection, Pool
from abacus.platform.sql import columns
from abacus.proof.decide.report import MOST_FAULTS, Report
from abacus.proof.parts import Span
from abacus.proof.processes import Helpers
from abacus.proof.store import Seals
from abacus.proof.verify import verify
from tests.proof.reported import MEMBERS, lines, of_a_seal
from tests.support.sealing import RECHECK, earned, fill, tampering
from tests.support.slices import SLICES

# Statements of a superuser; each leaves traces, and verifying reports these lines.
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
        [
            "bob GRP #3: the account's held is 5, its transfers come to 0",
            "bob GRP #3: the account's held is 5, its open holds come to 0",
        ],
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
        f"update seal set snapshot = '{' '.join(['1:1:'] * SLICES)}' where number = 1",
        [
            "seal 1: its number of accounts is 3, the ledger comes to 0",
            "seal 1: its number of transfers is 9, the ledger comes to 0",
            "seal 1: its root is ",
            "seal 1: the hash does not match the row and the one before it",
        ],
    ),
}


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
        assert any(each.startswith(of_a_seal(line)) for each in told), (line, told)


async def test_a_consistent_rewrite_is_found_by_the_seal_alone(pool: Pool, database_url: str) -> None:
    """Somebody who knows how makes all rows of a member fit. Only the earlier seal still differs."""
    await fill(pool, *MEMBERS)
    await Seals(pool, SystemClock()).make()
    await fill(pool, "bob", transfers=1)
    async with tampering(database_url) as superuser:
        await _rewrite(superuser, "bob")
    told = lines(await verify(pool, RECHECK))
    assert len(told) == 1
    assert told[0].startswith(of_a_seal("seal 1: its root is "))
    assert (await verify(pool, RECHECK, seals=0)).clean


async def test_a_ledger_of_several_formats(pool: Pool, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of the first format, rows of today's, and rows of a later one whose hash covers a fictitious field."""
    await fill(pool, "bob", transfers=3)
    async with tampering(database_url) as owner:
        await _as_first_format(owner, "bob")
    await fill(pool, "bob", "eve", transfers=4)
    memos = {"txn:meals:bob-6": "a memo"}
    monkeypatch.setitem(FORMATS, 4, lambda body: FORMATS[3](body) + memos.get(body[6], "").encode())
    async with tampering(database_url) as owner:
        await _as_format(owner, 4, "bob", since=6)
    formats = await pool.fetch("select format from transfer where member_id = 'bob' order by seq")
    assert [row["format"] for row in formats] == [1, 1, 1, 3, 3, 4, 4]
    assert (await verify(pool, RECHECK)).faults == []
    memos["txn:meals:bob-6"] = "another memo"
    told = [str(fault) for fault in (await verify(pool, RECHECK)).faults]
    assert told == ["bob GRP #6: the hash does not match the row and the one before it"]
    monkeypatch.delitem(FORMATS, 4)
    told = [str(fault) for fault in (await verify(pool, RECHECK)).faults]
    assert told[:2] == [f"bob GRP #{seq}: format 4; this version knows 1, 2, 3" for seq in (6, 7)]


async def _as_first_format(superuser: Connection, member: str) -> None:
    """An account whose transfers were written before they had a source."""
    await superuser.execute("update transfer set source = null, lifetime = null where member_id = $1", member)
    await _as_format(superuser, 1, member)


async def _as_format(superuser: Connection, format_: int, member: str, *, since: int = 1) -> None:
    """An account whose transfers from `since` on were written in this format."""
    rows = await superuser.fetch(f"select {columns(Transfer)} from transfer where member_id = $1 order by seq", member)
    head = b""
    for row in rows:
        transfer = Transfer(*row)._replace(explanation=row["explanation"].encode())
        if transfer.seq >= since:
            transfer = transfer._replace(format=format_)
        head = chain(head, transfer[:-1])
        await superuser.execute(
            "update transfer set format = $3, hash = $4 where member_id = $1 and seq = $2",
            *(member, transfer.seq, transfer.format, head),
        )
    await superuser.execute("update account set head_hash = $2 where member_id = $1", member, head)


async def _rewrite(superuser: Connection, member: str) -> None:
    """Give the member twice as many points from the start, with explanations, hashes and sums that fit."""
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


@pytest.mark.long
async def test_what_is_posted_meanwhile_is_not_looked_at(pool: Pool, database_url: str) -> None:
    """All parts see one snapshot: a posting between two of them would otherwise be a claim without a transfer."""
    await fill(pool, *MEMBERS)
    posting = asyncio.Event()

    async def post() -> None:
        number = 0
        while not posting.is_set():
            number += 1
            await fill(pool, f"new-{number}", "bob", transfers=1)
            await asyncio.sleep(0.02)  # as fast as it can, it would take the machine from the reader

    poster = asyncio.create_task(post())
    try:
        with Helpers(database_url, 2) as helpers:
            reports = [await verify(pool, RECHECK, helpers=helpers) for _ in range(2)]
    finally:
        posting.set()
        await poster
    assert all(report.clean for report in reports), [lines(report) for report in reports]
    assert reports[0].transfers <= reports[1].transfers


async def test_many_faults_are_counted(pool: Pool, database_url: str) -> None:
    await fill(pool, *(f"m{number:04}" for number in range(600)), transfers=1)
    async with tampering(database_url) as superuser:
        await superuser.execute("update account set balance = -1, earned_total = 1")
    report = await verify(pool, RECHECK)
    assert (len(report.faults), report.more_faults) == (MOST_FAULTS, 200)
