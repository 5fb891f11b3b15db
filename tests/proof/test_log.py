"""The log: chained, sealed, and beside it the cards, people and partners. Every tampering by a superuser is named."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Final

import pytest
from argon2 import PasswordHasher

from abacus.cli.examples import example_cards
from abacus.console.entry.passwords import Passwords
from abacus.core.clock import SystemClock
from abacus.people.store.audit import entry_of, write
from abacus.people.store.chain import chain_next
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Grant, Role
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Pool, open_pool
from abacus.pricing.store.cards import CardStore
from abacus.proof.log import log_keeper
from abacus.proof.processes import Helpers
from abacus.proof.store import Seals
from abacus.proof.verify import verify
from tests.proof.busy import busy
from tests.proof.reported import lines
from tests.support.forgetting import eraser, noted
from tests.support.logged import logged
from tests.support.sealing import NOW, RECHECK, tampering
from tests.support.staff import ADMIN, MACHINE

# Statements of a superuser who has switched the triggers off, and the beginnings of the lines that verifying reports.
TAMPERINGS: Final[dict[str, tuple[str, list[str]]]] = {
    "an entry is gone": (
        "delete from audit_log where number = 4",
        ["log #5: follows #3: 1 missing before it", "log #5: the hash does not match the entry and the one before it"],
    ),
    "the last entries are gone, before a seal": (
        "delete from audit_log where number > 23",
        ["log #25: the log ended with it, and ends with #23"],
    ),
    "the last entries are gone, and the log's end with them": (
        (
            "delete from audit_log where number > 22;"
            "update audit_head set number = 22, hash = (select hash from audit_log where number = 22)"
        ),
        ["person cleo: its disabled_at is ", "seal 1: its log of 23 entries ends with "],
    ),
    "somebody else did it": (
        "update audit_log set actor = 'person:ann' where number = 4",
        ["log #4: the hash does not match the entry and the one before it"],
    ),
    "it was done to somebody else": (
        "update audit_log set subject = 'card:XX' where number = 4",
        ["log #4: the hash does not match the entry and the one before it"],
    ),
    "it was done otherwise": (
        """update audit_log set details = '{"did":"nothing"}' where number = 4""",
        ["log #4: the hash does not match the entry and the one before it"],
    ),
    "it was done at another time": (
        "update audit_log set at = at - interval '1 second' where number = 4",
        ["log #4: the hash does not match the entry and the one before it"],
    ),
    "a name is taken out as by an erasure": (
        (
            "update audit_log set salt = null, subject = 'member:erased-00', body = sha256(uuid_send(salt) ||"
            """ convert_to('["' || subject || '",' || to_json(details::text) || ']', 'UTF8'))"""
            " where subject = 'member:bob' and details ->> 'key' = 'adjust:small'"
        ),
        [
            "bob GRP #10: the log has no entry of it",
            "log #",
        ],
    ),
    "an entry is dated back": (
        (
            "insert into audit_log (entry_id, at, actor, authenticated, deed, subject, details)"
            " values (gen_random_uuid(), now() - interval '3 hours', 'person:eve', true, 'replay', 'relay', '{}')"
        ),
        ["log #0: 1 entries since "],
    ),
    "a card starts at another time": (
        "update rate_card set effective_from = effective_from - interval '1 day' where scope = 'SG'",
        ["card SG: its versions 1 effective_from is 2025-12-30T16:00:00+00:00, the log has 2025-12-31T16:00:00+00:00"],
    ),
    "a card has other thresholds": (
        "update rate_card set document = jsonb_set(document, '{tier_policy,thresholds,gold}', '1') where scope = 'SG'",
        ["card SG: its versions 1 document is "],
    ),
    "a card has another expiry": (
        "update rate_card set document = jsonb_set(document, '{expiry_months}', '60') where scope = 'SG'",
        ["card SG: its versions 1 document is "],
    ),
    "a card that was not published": (
        (
            "insert into rate_card select 'SG', 2, effective_from, document, published_at, 'ann' from rate_card"
            " where scope = 'SG'"
        ),
        ["card SG: the log does not have its versions 2"],
    ),
    "a card is gone": (
        "delete from rate_card where scope = 'SG'",
        ["card SG: the log has it, and it is not there"],
    ),
    "a card that was not withdrawn": (
        "insert into rate_card_withdrawal values ('SG', 1, now(), 'ann', '')",
        ["card SG: its versions 1 withdrawn_at is "],
    ),
    "a person is made an admin": (
        "update person set grants = '{admin}' where person_id = 'ann'",
        ['person ann: its grants is ["admin"], the log has ["support"]'],
    ),
    "a person is made up": (
        "insert into person values ('eve', '{admin}', now(), 'person:ann')",
        ["person eve: the log has no entry of it"],
    ),
    "a person is enabled again": (
        "update person set disabled_at = null where person_id = 'cleo'",
        ["person cleo: its disabled_at is null, the log has "],
    ),
    "a token of somebody else": (
        (
            "insert into person_token select 'other', person_id, '\\x00', created_at, created_by, expires_at"
            " from person_token where person_id = 'ann'"
        ),
        ["person ann: the log does not have its tokens other"],
    ),
    "a token with another secret": (
        "update person_token set digest = '\\x00' where person_id = 'ann'",
        ["person ann: its tokens "],
    ),
    "a token that is longer good": (
        "update person_token set expires_at = expires_at + interval '1 year' where person_id = 'ann'",
        ["person ann: its tokens "],
    ),
    "a password that nobody set": (
        "insert into console_password values ('ann', 'x', now(), 'person:ann')",
        ["person ann: its password is "],
    ),
    "a partner has other limits": (
        "update allowance set in_total = 1000000",
        ["partner acme: its limits is [null, null, null, 1000000], the log has [null, null, null, 1000]"],
    ),
    "a partner may more": (
        "update partner set may_adjust = true",
        ["partner acme: its may_adjust is true, the log has false"],
    ),
    "a partner of other countries": (
        "update partner set countries = '{ID}'",
        ['partner acme: its countries is ["ID"], the log has []'],
    ),
    "a key of a partner": (
        "insert into partner_key select 'other', partner_id, digest, created_at from partner_key",
        ["partner acme: the log does not have its keys other"],
    ),
}


@pytest.mark.long
async def test_a_log_that_is_chained_is_clean(pool: Pool, database_url: str) -> None:
    await _live(pool)
    with Helpers(database_url, 2) as helpers:
        assert lines(await verify(pool, RECHECK, helpers=helpers)) == lines(await verify(pool, RECHECK)) == []
    numbers = [row[0] for row in await pool.fetch("select number from audit_log order by at, entry_id")]
    assert numbers == list(range(1, 26)), "in the order of their times, which are the database's"


@pytest.mark.once  # the log is in no slice
@pytest.mark.parametrize("name", TAMPERINGS)
async def test_what_is_tampered_with_is_found_and_named(pool: Pool, database_url: str, name: str) -> None:
    await _live(pool)
    statements, expected = TAMPERINGS[name]
    async with tampering(database_url) as superuser:
        await superuser.execute(statements)
    told = [line for line in lines(await verify(pool, RECHECK)) if "has other limits than it" not in line]
    assert len(told) == len(expected), told
    assert all(line.startswith(start) for line, start in zip(told, expected, strict=True)), told


async def test_an_entry_that_is_dated_back_has_its_place_behind_what_came_before(pool: Pool, database_url: str) -> None:
    await _live(pool)
    async with tampering(database_url) as superuser:
        await superuser.execute(TAMPERINGS["an entry is dated back"][0])
    async with pool.acquire() as connection:
        await chain_next(connection)
    (line,) = lines(await verify(pool, RECHECK))
    assert line.startswith("log #26: it is of ")
    assert line.endswith("long before the entry before it")


async def test_whoever_writes_an_entry_does_not_say_when(pool: Pool) -> None:
    """Nor its place, nor what it is about was."""
    then = await pool.fetchval("select clock_timestamp()")
    async with pool.acquire() as connection:
        await write(connection, [entry_of("person:eve", Deed.REPLAY, "relay", NOW - timedelta(days=365))])
    assert await pool.fetchval("select at from audit_log") >= then
    for column in ("number", "hash", "state", "stated", "of_before", "salt"):
        assert not await pool.fetchval(
            "select has_column_privilege(current_user, 'audit_log', $1, 'insert')", column
        ), column


@pytest.mark.long
async def test_entries_that_wait_for_their_transactions_get_places_later(pool: Pool, database_url: str) -> None:
    async with pool.acquire() as slow, pool.acquire() as quick:
        async with slow.transaction():
            await write(slow, [entry_of("person:eve", Deed.REPLAY, "slow", NOW)])
            await write(quick, [entry_of("person:eve", Deed.REPLAY, "quick", NOW)])
            assert (await chain_next(quick), await chain_next(quick)) == (1, 0)
        assert await chain_next(quick) == 1
    rows = await pool.fetch("select subject from audit_log order by number")
    assert [row[0] for row in rows] == ["quick", "slow"]
    assert lines(await verify(pool, RECHECK)) == []


async def test_changes_of_one_thing_at_once_leave_its_state_in_the_last_entry(pool: Pool) -> None:
    """Rights and limits of a partner are different rows, which two change at once."""
    await _live(pool)
    async with pool.acquire() as first, pool.acquire() as second:
        one, two = first.transaction(), second.transaction()
        await one.start()
        await two.start()
        await first.execute("update partner set may_count = true")
        await second.execute("update partner_key set expires_at = now() + interval '1 day'")
        await logged("partner:acme", Deed.EDIT_PARTNERS)(first)
        waits = asyncio.ensure_future(logged("partner:acme", Deed.EDIT_PARTNERS)(second))
        await asyncio.sleep(0.05)
        await one.commit()
        await waits
        await two.commit()
    assert lines(await verify(pool, RECHECK)) == []


async def test_a_password_that_is_hashed_anew_is_no_fault(pool: Pool) -> None:
    """Signing in does that, once the cost of a hash is raised."""
    await _live(pool)
    cheap, dear = (PasswordHasher(time_cost=cost, memory_cost=8, parallelism=1) for cost in (1, 2))
    password, also = "a long enough password", logged("person:ann", Deed.MANAGE_PEOPLE)
    await Passwords(pool, SystemClock(), cheap).set("ann", password, by="person:ann", also=also)
    assert lines(await verify(pool, RECHECK)) == []
    assert await Passwords(pool, SystemClock(), dear).fits("ann", password)
    assert lines(await verify(pool, RECHECK)) == []


async def test_an_erasure_takes_names_out_of_the_log_and_the_chain_holds(pool: Pool, database_url: str) -> None:
    await _live(pool)
    owner = await open_pool(database_url, size=1, role=None)
    try:
        erased = await eraser(owner).erase("bob", by="alice", reason="asked to", also=noted)
    finally:
        await owner.close()
    assert not await pool.fetchval("select count(*) from audit_log where subject = 'member:bob'")
    await Seals(pool, SystemClock()).make()
    told = lines(await verify(pool, RECHECK))
    assert [line for line in told if not line.startswith("seal 1: its root")] == []  # no leaf was kept of it
    async with tampering(database_url) as superuser:
        await superuser.execute(
            "update audit_log set details = replace(details::text, '20', '21')::json where salt is null"
        )
    told = [line for line in lines(await verify(pool, RECHECK)) if line.startswith("log")]
    assert len(told) == erased.rows["audit_log"] > 1, told
    assert all("its name and details were replaced" in line for line in told)


async def test_the_relay_chains_what_is_written(pool: Pool) -> None:
    await _live(pool)
    async with pool.acquire() as connection:
        await write(connection, [entry_of("person:eve", Deed.REPLAY, "relay", NOW)])
    stop = asyncio.Event()
    running = asyncio.ensure_future(log_keeper(pool, WorkerHealth("relay")).run(stop))
    async with asyncio.timeout(10):
        while await pool.fetchval("select count(*) from audit_log where number is null"):  # noqa: ASYNC110  # rows tell nobody
            await asyncio.sleep(0.01)
    stop.set()
    with suppress(asyncio.CancelledError):
        await running
    assert lines(await verify(pool, RECHECK)) == []


async def _live(pool: Pool) -> None:
    """Cards, people and a partner, twenty-three entries that are sealed, and two that are not."""
    for card in (each for each in example_cards() if each.scope in {"ID", "SG"}):
        also = logged(f"card:{card.scope}", Deed.PUBLISH_RATES)
        await CardStore(pool).publish(card, by="tests", now=NOW, also=also)
    async with pool.acquire() as connection:
        await write(connection, [entry_of("person:eve", Deed.REPLAY, "relay", NOW) for _ in range(3)])
    await busy(pool)
    people = PeopleStore(pool, SystemClock())
    also = logged("person:cleo", Deed.MANAGE_PEOPLE)
    await people.create("cleo", (Grant(Role.ADMIN),), by=ADMIN, also=also)
    await people.disable("cleo", by=MACHINE, also=logged("person:cleo", Deed.MANAGE_PEOPLE))
    await Seals(pool, SystemClock()).make()
    async with pool.acquire() as connection:
        await write(connection, [entry_of("person:eve", Deed.REPLAY, "relay", NOW) for _ in range(2)])
        while await chain_next(connection):
            pass
