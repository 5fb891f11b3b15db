"""Statements that the database itself refuses: second rows for a key, and changes that the application may not make."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.types.deed import Deed
from abacus.platform.migrations import make_sandbox
from abacus.platform.postgres import Pool, nothing_else, open_pool
from abacus.platform.sandbox import SESSION
from abacus.platform.slices import SliceMap
from abacus.platform.slices.layout import CUT, HEAD, OF_A_SLICE
from tests.platform.rights import FUNCTIONS, RIGHTS, callable_with_rights, granted, in_order
from tests.support.cluster import Servers
from tests.support.logged import limits_logged
from tests.support.slices import IN_A_SLICE, SLICES

TIMES = "'2026-06-01', '2026-06-01'"
CLOCK = SystemClock()
ACME = Partner("acme", "Acme", True, True, (), None, 60, None, CLOCK.now(), "ann", None)  # noqa: FBT003  # columns
BOB = next(each for each in ("bob", *(f"bob{n}" for n in range(99))) if SliceMap(SLICES).slice_of(each) == 0)
ROWS = {
    "claim": "('k', 'bob', 'GRP', 1, 'f')",
    "account": f"('{BOB}', 'GRP', 'SG')",
    "transfer": f"('bob', 'GRP', 1, 'earn', 1, 1, 'k', 'SG', {TIMES}, null, '{{}}', null, null, default, '')",
    "draw": "('bob', 'GRP', 1, 2, 5)",
    "hold": ("('bob', '11111111-1111-1111-1111-111111111111', 'GRP', 'SG', 5, '2026-06-01', 'open', 'acme', 1, null)"),
    "allowance": "('acme')",
    "allowance_member": "('bob', 'acme', '2026-06-01', 5)",
    "rejection": "('k', 'bob', 'GRP', 1, 'f', 'budget-exhausted', '', '2026-06-01')",
    "expiry_batch": "('SG', '2026-06', 1, 5)",
}


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    opened = await open_pool(database_url, size=2, settings=IN_A_SLICE)
    yield opened
    await opened.close()


@pytest.mark.parametrize("table", ROWS)
async def test_a_second_of_its_kind_is_refused(pool: Pool, table: str) -> None:
    insert = f"insert into {table} values {ROWS[table]}"
    await pool.execute(insert)
    with pytest.raises(asyncpg.UniqueViolationError):
        await pool.execute(insert)


@pytest.mark.parametrize(
    "statement",
    [
        "delete from account",
        "truncate account",
        "delete from hold",
        "update account set country = 'ID'",
        "update hold set points = 1",
        "update hold set until = now()",
        "update hold set placed_seq = 1",
        "update hold set held_by = 'acme'",
        "update allowance set in_total = null",
        "update allowance set per_day = null",
        "insert into allowance (partner_id, used) values ('acme', -1000)",
        "update allowance_member set day = '2026-01-01'",
        "delete from allowance_member",
        "update partner_key set digest = ''",
        "update partner_key set partner_id = 'acme'",
        "delete from partner_key",
        "update partner set created_by = ''",
        "update partner_award set key = ''",
        "update partner_award set fingerprint = ''",
        "update quarantine set body = ''",
        "update tier_change set to_tier = 'gold'",
        "update expiry_run set lapsed_at = now()",
        "update webhook_delivery set body = ''",
        "delete from approval",
        "delete from person",
        "update person set created_by = ''",
        "update person_token set expires_at = now()",
        "update person_token set digest = ''",
        "update approval set document = '{}'",
        "update approval set digest = ''",
        "update approval set asked_by = 'person:eve'",
        "update approval set country = null",
        "update approval set before_people = true",
        "insert into approval (approval_id, status) values (gen_random_uuid(), 'approved')",
        "delete from allowance",
        "delete from partner_award",
        "delete from expiry_run",
        "delete from expiry_batch",
        "alter table transfer disable trigger all",
        "set session_replication_role = replica",
        "drop table transfer",
    ],
)
async def test_what_the_application_may_not(pool: Pool, statement: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(statement)


async def test_the_application_has_the_declared_rights_and_no_others(pool: Pool, database_url: str) -> None:
    """In the sandbox as well, which the same migrations make. A new grant takes its place in the list."""
    await make_sandbox(database_url)
    sandbox = await open_pool(database_url, size=1, settings=SESSION)
    try:
        expected = {table: in_order(each) for table, each in RIGHTS.items()}
        assert {table: in_order(each) for table, each in (await granted(sandbox)).items()} == expected
        assert await callable_with_rights(sandbox) == FUNCTIONS
        if SLICES > 1:
            expected = {table: each for table, each in expected.items() if table in {*CUT, *OF_A_SLICE}}
            expected |= {HEAD: in_order("select, update")}
        assert {table: in_order(each) for table, each in (await granted(pool)).items()} == expected
    finally:
        await sandbox.close()


@pytest.mark.parametrize("table", RIGHTS)
async def test_each_table_refuses_what_is_not_declared(pool: Pool, table: str) -> None:
    """By trying: a change of each column that is not granted, a deletion, emptying, and a row."""
    granted = in_order(RIGHTS[table])
    whole = {right for right in granted if " " not in right}
    columns = {column for right in granted if right.startswith("update ") for column in right.split()[1:]}
    rows = await pool.fetch("select attname from pg_attribute where attrelid = $1::regclass and attnum > 0", table)
    refused = [f"update {table} set {column} = {column}" for (column,) in rows if column not in columns]
    refused += [f"truncate {table}", f"alter table {table} disable trigger all"]
    refused += [f"delete from {table}"] if "delete" not in whole else []
    refused += [f"insert into {table} select * from {table}"] if "insert" not in whole else []
    for statement in refused:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await pool.execute(statement)


async def test_limits_change_only_in_a_transaction_that_logs_it(pool: Pool) -> None:
    store = PartnerStore(pool, CLOCK)
    await store.create(ACME, Limits(per_day=1000), LIVE_KEY.new(), also=limits_logged("acme"))
    for also in (nothing_else, limits_logged("other"), limits_logged("acme", Deed.EDIT_PARTNERS)):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="the limits of acme change only in a"):
            await store.limit("acme", Limits(), also=also)
    assert (await store.get("acme")).allowance.limits == Limits(per_day=1000)
    await store.limit("acme", Limits(in_total=5), also=limits_logged("acme"))
    assert (await store.get("acme")).allowance.limits == Limits(in_total=5)


async def test_a_table_of_the_caller_is_not_taken_for_the_log(pool: Pool) -> None:
    """The function has its owner's rights: it looks at the tables of its own schema."""
    await PartnerStore(pool, CLOCK).create(ACME, Limits(per_day=1000), LIVE_KEY.new())
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("create temporary table audit_log (subject text, deed text)")
        await connection.execute("insert into pg_temp.audit_log values ('partner:acme', 'edit-limits')")
        with pytest.raises(asyncpg.IntegrityConstraintViolationError):
            await connection.execute("select abacus_set_limits('acme', null, null, null, null)")


STAYS = {
    "delete from claim": "claim_is_append_only",
    "delete from transfer": "transfer_is_append_only",
    "delete from rejection": "rejection_is_append_only",
    "delete from draw": "draw_is_append_only",
    "delete from sealed_leaf": "sealed_leaf_is_append_only",
    "update sealed_leaf set leaf = ''": "sealed_leaf_is_append_only",
    "update member_number set number = 7": "member_number_is_never_changed",
}


@pytest.mark.parametrize("statement", STAYS)
async def test_a_row_stays_also_where_no_trigger_looks_at_the_statement(
    database_url: str, servers: Servers, statement: str
) -> None:
    """As on the parts of a table that Citus has spread, where none can be switched off; also for the owner of the
    tables.
    """
    rows = ROWS | {"sealed_leaf": "('bob', 'GRP', 1, 0, 'x', 1)", "member_number": "('bob', 1)"}
    table = next(each for each in rows if each in statement.split())
    owner = await asyncpg.connect(database_url, server_settings=IN_A_SLICE)
    try:
        is_spread = servers.are_several and table in (*CUT, *OF_A_SLICE)
        for trigger in (None,) if is_spread else (STAYS[statement], None):
            undone = owner.transaction()
            await undone.start()
            await owner.execute(f"insert into {table} values {rows[table]}")
            if trigger is not None:
                await owner.execute(f"alter table {table} disable trigger {trigger}")
            with pytest.raises(asyncpg.RestrictViolationError, match="is append-only"):
                await owner.execute(statement)
            await undone.rollback()
    finally:
        await owner.close()
