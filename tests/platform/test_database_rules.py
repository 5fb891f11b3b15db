"""Statements that the database itself refuses: second rows for a key, and changes that the application may not make."""

import asyncpg
import pytest

from abacus.platform.postgres import Pool

TIMES = "'2026-06-01', '2026-06-01'"
ROWS = {
    "claim": "('k', 'bob', 'GRP', 1, 'f')",
    "account": "('bob', 'GRP', 'SG')",
    "transfer": f"('bob', 'GRP', 1, 'earn', 1, 1, 'k', 'SG', {TIMES}, null, '{{}}', null, null, default, '')",
    "draw": "('bob', 'GRP', 1, 2, 5)",
    "hold": ("('bob', '11111111-1111-1111-1111-111111111111', 'GRP', 'SG', 5, '2026-06-01', 'open', 'acme', 1, null)"),
    "allowance": "('acme')",
    "allowance_member": "('bob', 'acme', '2026-06-01', 5)",
    "rejection": "('k', 'bob', 'GRP', 1, 'f', 'budget-exhausted', '', '2026-06-01')",
    "expiry_batch": "('SG', '2026-06', 1, 5)",
}


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
