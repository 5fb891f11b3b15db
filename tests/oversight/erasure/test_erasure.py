"""A member is taken out of everything, and the ledger can be proved as before; nobody else is touched."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Final
from uuid import uuid4

import asyncpg
import orjson
import pytest

from abacus.console.errands.command import ERRAND_TOKEN
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import ErrandOutcome, Order, State
from abacus.core.errors import Reason, Refused, SetAside
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.port import Status
from abacus.oversight.erasure import ledger as ledger_of
from abacus.oversight.erasure.decide.pseudonym import Pseudonym
from abacus.oversight.erasure.erase import Eraser, erasures
from abacus.oversight.erasure.inventory import NAMELESS, TREATED
from abacus.oversight.erasure.ledger import Head
from abacus.people.decide.agreement import check_unchanged
from abacus.people.store.approvals import Approvals
from abacus.people.store.audit import log
from abacus.platform.postgres import Connection, Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import FailureNote, ProcessNote, Report
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import AWARD_QUEUE, Item, Stage
from abacus.platform.sqs.compressed_envelope import compressed, is_compressed, seen_through
from abacus.proof.erased_leaves import keep_leaves
from abacus.proof.store import Seals
from abacus.proof.verify import verify
from tests.oversight.erasure.erasing import ANNA, BOB, erase, is_clean, verify_member
from tests.support.awards import award
from tests.support.forgetting import CLOCK, accounts, eraser, granted, live, naming, noted, rest
from tests.support.neighbours import neighbours_are_through
from tests.support.slices import home_of, tables_of

POSTED, DUPLICATE = Status.POSTED, Status.DUPLICATE

# In a ledger in slices `public` has views of their tables; the application has no rights to what slices leave behind.
_TABLES = """
select c.relname::text as name from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
    and c.relname not in ('alembic_version') and c.relname not like 'pg\\_%' and c.relname not like 'citus\\_%'
"""


# Columns that are called after members, of tables that name nobody all the same, and why.
_MEMBERS_OF_NOBODY: Final = {
    "allowance": "how much any one member may get of a partner",
    "allowance_part": "the same, in a slice",
    "journey_deed": "members by numbers",
    "journey_trail": "the same",
    "pack": "the same",
    "journey_sum": "how many members, and not who",
    "partner": "whether it may read members",
    "sealed_leaf": "renamed before the accounts, by the room that proves",
    "segment_version": "how many members it has, by numbers",
}

# Tables in which a life of these tests leaves nothing; other tests erase from them.
_NOT_IN_A_LIFE: Final = {"console_alarm", "console_errand", "console_errand_file", "queue_failure", "relay_cursor"}


async def test_a_table_with_members_is_treated(pool: Pool) -> None:
    """A column that is called after members is one of a table whose rows an erasure changes."""
    with_members = """
    select distinct table_name from information_schema.columns where table_schema = 'public'
        and (column_name like '%member%' or column_name = 'user_id')
    """
    named = {row["table_name"] for row in await pool.fetch(with_members)}
    assert named & NAMELESS == _MEMBERS_OF_NOBODY.keys()


@pytest.mark.long
async def test_the_id_is_nowhere_and_every_sum_is_as_it_was(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    await live(pool, ANNA)
    before, everything = await accounts(pool, BOB), await rest(owner)
    others = await rest(owner, BOB, BOB.encode().hex())  # a digest of a number is shown by its digits
    stands_in = {place.partition(".")[0] for place in await naming(owner, BOB)}
    assert (TREATED | ledger_of.TABLES) - stands_in == _NOT_IN_A_LIFE, "and every other table has the member"

    looked = await eraser(owner).look(BOB)
    assert await rest(owner) == everything

    erased = await eraser(owner).erase(BOB, by="alice", reason="asked to", also=noted)
    assert looked.rows == erased.rows
    assert await naming(owner, BOB) == []
    after = await accounts(pool, erased.pseudonym)
    assert [each._replace(member_id=BOB, head_hash=b"") for each in after] == [
        each._replace(head_hash=b"") for each in before
    ]
    assert await is_clean(pool)
    assert await verify_member(pool, erased.pseudonym) == 8
    assert erased.accounts == [
        {
            "program": old.program,
            "transfers": old.last_seq,
            "balance": old.balance,
            "head_before": old.head_hash.hex(),
            "head_after": new.head_hash.hex(),
        }
        for old, new in zip(before, after, strict=True)
    ]
    assert await erasures(pool, 10) == [erased]
    there = await rest(owner, erased.pseudonym)
    for table, rows in others.items():
        assert set(rows) <= set(there[table]), table
    assert len(there["notice"]) == len(there["notification_preference"]) == 1


async def test_old_seals_hold_under_new_names(pool: Pool, owner: Pool) -> None:
    """Three members live, are sealed, move on and are sealed again; two are erased, one after the other."""

    async def keep(connection: Connection, renaming: Pseudonym, _: Sequence[Head]) -> None:
        await keep_leaves(connection, *renaming)

    seals = Seals(pool, CLOCK)
    for name in (ANNA, BOB, "zoe"):
        await live(pool, name)
        await neighbours_are_through(pool)
        await seals.make()
    kept = Eraser(owner, CLOCK, lambda _: None, before_renaming=[keep])
    for last, name in ((3, BOB), (4, ANNA)):
        await kept.erase(name, by="alice", reason="asked to", also=noted)
        report = await verify(pool, lambda _: None, seals=None)
        assert [str(fault) for fault in report.faults] == []
        assert sorted(report.seals) == list(range(1, last + 1))
        await neighbours_are_through(pool)
        await seals.make()
        assert (await verify(pool, lambda _: None, seals=None)).clean
    with pytest.raises(Refused, match="had no transfer yet at seal 1"):
        await seals.prove(("zoe", "GRP"), 1)
    assert (await seals.prove(("zoe", "GRP"), 3)).member_id == "zoe"


async def test_what_was_set_aside_about_others_stays(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    pseudonym = await erase(owner)
    store = QuarantineStore(pool, CLOCK)
    left = {(each.item.id, each.item.body.decode(), each.item.detail) for each in await store.list()}
    assert {(body, detail) for _, body, detail in left} == {
        ('{"v":1,"awards":[{"member_id":"somebody"}]}', f"member_id: not '{pseudonym}'"),
        ('{"member_id":"somebody","amount":"?"}', f"member_id: not '{pseudonym}'"),
    }
    for id_, *_ in left:
        assert await store.get(id_) is not None, "the store has it under the id of its body"


async def test_a_compressed_envelope_that_was_set_aside_is_looked_into(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    both = {"v": 1, "awards": [{"member_id": BOB, "points": 1}, {"member_id": "carol", "points": 2}]}
    body = compressed(json.dumps(both).encode(), 7).encode()
    item = Item.of(Stage.ENVELOPE, AWARD_QUEUE, body, SetAside(Reason.INVALID, "2 awards; it says 7"))
    store = QuarantineStore(pool, CLOCK)
    await store.add([item])
    await erase(owner)
    assert await store.get(item.id) is None
    (left,) = [each.item.body for each in await store.list() if is_compressed(each.item.body)]
    assert json.loads(seen_through(left)) == {"v": 1, "awards": [{"member_id": "carol", "points": 2}]}


async def test_every_table_has_its_treatment(pool: Pool) -> None:
    there = {row["name"] for row in await pool.fetch(_TABLES)}
    declared = [TREATED, NAMELESS, ledger_of.TABLES]
    assert there == set().union(*declared)
    assert sum(map(len, declared)) == len(there), "each in one place"


async def test_a_delivery_of_before_is_a_duplicate_and_a_new_one_opens_a_new_account(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    pseudonym = await erase(owner)
    again = [granted("txn:rides:b1", member_id=BOB), granted("api:acme:b2", 101, member_id=BOB)]
    outcomes = await PostgresLedger(pool, CLOCK).post([*again, granted("txn:rides:new", member_id=BOB)])
    assert [outcome.status for outcome in outcomes] == [DUPLICATE, Status.REJECTED, POSTED]
    assert [account.balance for account in await accounts(pool, BOB)] == [10]
    assert [account.balance for account in await accounts(pool, pseudonym)] == [503, 10]
    assert await is_clean(pool)
    assert await erase(owner) != pseudonym
    assert await naming(owner, BOB) == []
    assert await is_clean(pool)


SAYS_WHOM = "select set_config('abacus.erasing', $1, false)"
PSEUDONYM = "erased-" + "0" * 32


@pytest.mark.parametrize("table", ["transfer", "claim", "rejection"])
async def test_the_applications_role_has_no_way_in(pool: Pool, table: str) -> None:
    await live(pool, BOB)
    async with pool.acquire() as connection:
        await connection.execute(SAYS_WHOM, BOB)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(f"update {table} set member_id = $1", PSEUDONYM)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("insert into erasure values ($1, now(), 'alice', 'asked', '[]', '{}')", PSEUDONYM)


async def test_a_role_that_may_update_and_does_not_own_has_no_way_in(pool: Pool, owner: Pool) -> None:
    """As if somebody had granted too much."""
    await live(pool, BOB)
    await owner.execute(f"grant update on {tables_of('transfer')} to abacus_app")
    async with pool.acquire(schema=await home_of(pool, BOB)) as connection:
        await connection.execute(SAYS_WHOM, BOB)
        with pytest.raises(asyncpg.RestrictViolationError, match="append-only: UPDATE refused"):
            await connection.execute("update transfer set member_id = $1 where member_id = $2", PSEUDONYM, BOB)


@pytest.mark.parametrize(
    ("erasing", "statement"),
    [
        (BOB, "update transfer set member_id = '{name}', points = points + 1 where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}', balance_after = 0 where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}', xid = '9' where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}', key = 'txn:x' where member_id = '{bob}' and seq = 2"),
        (BOB, "update transfer set points = points where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = 'carol' where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}' where member_id = 'anna'"),
        (BOB, "update claim set member_id = '{name}', fingerprint = '' where member_id = '{bob}'"),
        (BOB, "update claim set member_id = '{name}', key = key || 'x' where key like 'txn:%'"),
        (BOB, "update rejection set member_id = '{name}', points = 0 where member_id = '{bob}'"),
        (BOB, "update rate_card set published_by = '{name}'"),
        (BOB, "update erasure set reason = ''"),
        (BOB, "delete from transfer where member_id = '{bob}'"),
        (BOB, "truncate claim"),
        ("", "update transfer set member_id = '{name}' where member_id = '{bob}'"),
        ("carol", "update transfer set member_id = '{name}' where member_id = '{bob}'"),
    ],
)
async def test_through_the_door_only_a_name_changes(pool: Pool, owner: Pool, erasing: str, statement: str) -> None:
    await live(pool, BOB)
    await live(pool, ANNA)
    home = await home_of(pool, ANNA if ANNA in statement else BOB)
    async with owner.acquire(schema=home) as connection:
        await connection.execute(SAYS_WHOM, erasing)
        with pytest.raises(asyncpg.RestrictViolationError, match="append-only"):
            await connection.execute(statement.format(name=PSEUDONYM, bob=BOB))


async def test_a_chain_that_is_broken_is_not_made_whole(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    await owner.execute(
        "set session_replication_role = replica; update transfer set points = 1 where seq = 2;"
        " set session_replication_role = origin"
    )
    with pytest.raises(Refused, match="do not hold together as they are; first: bob@home GRP #2: "):
        await erase(owner)
    assert await accounts(pool, BOB)


async def test_nothing_is_kept_of_a_stranger(owner: Pool) -> None:
    with pytest.raises(Refused, match="there is no member 'stranger'; nothing is kept"):
        await erase(owner, "stranger")


async def test_the_workers_login_may_not(pool: Pool) -> None:
    with pytest.raises(Refused, match="'abacus_app' may not erase"):
        await erase(pool)


@pytest.mark.long
async def test_an_account_of_many_transfers(pool: Pool, owner: Pool) -> None:
    """More than one page of the chain."""
    ledger = PostgresLedger(pool, CLOCK)
    await ledger.post([granted(f"txn:rides:{number}", member_id=BOB) for number in range(2500)])
    pseudonym = await erase(owner, BOB)
    assert await verify_member(pool, pseudonym) == 2500
    assert await naming(owner, BOB) == []


async def test_what_waited_for_a_second_person_is_void_and_its_digest_still_fits(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    await erase(owner, BOB)
    approvals = await Approvals(pool, CLOCK).all()
    assert [(each.status, each.summary, each.note) for each in approvals] == [("void", "erased", "erased")]
    for each in approvals:
        check_unchanged(each, each.document)
    entries = await log(pool)
    assert {each.subject.partition("-")[0] for each in entries if each.subject.startswith("member:")} == {
        "member:erased"
    }


# Ids that JSON, CSV and a shell write in other letters than they have.
@pytest.mark.parametrize("member", [BOB, 'b"b', "b\\b", "b'b", "josé", '旅"\\'])
async def test_what_commands_of_the_console_said_of_the_member_is_gone(pool: Pool, owner: Pool, member: str) -> None:
    await PostgresLedger(pool, CLOCK).post([award(member_id=member)])
    store, runner = ErrandStore(pool, CLOCK), uuid4()
    rows = io.StringIO()
    csv.writer(rows).writerow([member, 'a "quoted" word'])
    document = json.dumps({"member": member})
    said: dict[str, tuple[Order, bytes, bytes]] = {
        "arguments": (Order("arguments", "", None, ("explain", f"--member={member}")), b"{}", b""),
        "paper": (Order("paper", "", None, ("report",), {"a.txt": member}), b"", b""),
        "paper in JSON": (Order("paper in JSON", "", None, ("report",), {"a.json": document}), b"", b""),
        "document": (Order("document", "", None, ("report",)), orjson.dumps({"member": member}), b""),
        "another's JSON": (Order("another's JSON", "", None, ("report",)), document.encode(), b""),
        "file": (Order("file", "", None, ("close",)), b"{}", rows.getvalue().encode()),
        "others": (Order("others", "", None, ("report",), {"a.json": '{"member": "eve"}'}), b'{"member": "eve"}', b""),
    }
    for order, output, content in said.values():
        await store.ask(uuid4(), order, "ann")
        taken = await store.take(runner, ERRAND_TOKEN.new())
        assert taken is not None
        await store.end(taken.errand_id, runner, ErrandOutcome(State.DONE, 0, None, output, {"a.csv": content}))
    await erase(owner, member)
    assert [each.kind for each in await store.all(None, after=None, limit=9)] == ["others"]
    assert await pool.fetchval("select count(*) from console_errand_file") == 1


async def test_faults_of_queues_that_name_the_member_are_deleted(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    now = CLOCK.now()
    note = ProcessNote(uuid4(), "host", 7, "0.1.0", now, now, Report({}, {}, {}, None).text)
    whys = {"award": f"KeyError: '{BOB}'", "retry": "KeyError: 'points'"}
    presence = Presence(pool, CLOCK)
    await presence.note(note, [FailureNote(queue, why, now, 10) for queue, why in whys.items()])
    await erase(owner)
    assert [each.queue for each in await presence.failures()] == ["retry"]
