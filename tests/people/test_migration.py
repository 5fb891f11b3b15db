"""Adjustments from before there were people become approvals: what waited waits on, and a name is no person."""

import json
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final

import asyncpg
import pytest

from abacus.ledger.store.large_moves import read_movement
from abacus.ledger.types.movement import Adjustment
from abacus.ledger.types.movement_document import document_of
from abacus.people.decide.approving import check_unchanged
from abacus.people.types.approval import Approval
from abacus.platform.migrations import migrate
from abacus.platform.sql import columns
from tests.support.old_database import database_at
from tests.support.services import Services

NOW: Final = datetime(2026, 11, 21, tzinfo=UTC)
ROWS: Final = [
    # key, actor, asked_by, status, decided_by -> status, asked_by, decided_by, the movement's actor and on whose behalf
    (("adjust:1", "ann", None, "pending", None), ("pending", "login:ann", None, "ann", None)),
    (("api:acme:1", "ann", "acme", "pending", None), ("pending", "partner:acme", None, "acme", "ann")),
    (("adjust:2", "ann", None, "approved", "ben"), ("pending", "login:ann", None, "ann", None)),
    (("adjust:3", "ann", None, "posted", "ben"), ("done", "login:ann", "login:ben", "ann", None)),
    (("adjust:4", "ann", None, "rejected", "ann"), ("rejected", "login:ann", "login:ann", "ann", None)),
]


@pytest.fixture
async def old(services: Services) -> AsyncIterator[str]:
    async with database_at("0013", services) as url:
        yield url


async def test_what_waited_waits_on(old: str) -> None:
    connection = await asyncpg.connect(old)
    try:
        for number, ((key, actor, asked_by, status, decided_by), _) in enumerate(ROWS):
            await connection.execute(
                "insert into adjustment (member_id, adjustment_id, key, program, country, points, expires_on,"
                " lifetime, reason, actor, asked_by, fingerprint, status, asked_at, decided_by, decided_at)"
                " values ('bob', $1, $2, 'GRP', 'SG', 20000, '2027-05-31', false, 'Lost — found', $3, $4,"
                " '0123456789abcdef', $5, $6, $7, $8)",
                uuid.UUID(int=number),
                key,
                actor,
                asked_by,
                status,
                NOW,
                decided_by,
                NOW if decided_by else None,
            )
        await migrate(old)
        rows = await connection.fetch(f"select {columns(Approval)} from approval order by approval_id")
        approvals = [Approval(*row) for row in rows]
        with pytest.raises(asyncpg.RestrictViolationError):
            await connection.execute("update approval set summary = '' where status = 'pending'")
        with pytest.raises(asyncpg.CheckViolationError):
            await connection.execute("update approval set status = 'done', decided_by = 'login:ben'")
    finally:
        await connection.close()
    movements = [read_movement(each) for each in approvals]
    assert [
        (each.status, each.asked_by, each.decided_by, movement.actor, json.loads(each.document)["on_behalf_of"])
        for each, movement in zip(approvals, movements, strict=True)
    ] == [after for _, after in ROWS]
    for approval, movement in zip(approvals, movements, strict=True):
        assert isinstance(movement, Adjustment)
        check_unchanged(approval, document_of(movement))
        assert (movement.points, movement.key, movement.reason) == (20000, approval.subject, "Lost — found")
