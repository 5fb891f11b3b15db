"""Entries of positions: numbered without a gap, whoever writes at the same time."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import asyncpg
import pytest

from abacus.exchanges.decide.position import EntryKind, change
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.position_rows import EntryDraft, entries_behind, locked_standings, standings, write_entries
from abacus.platform.postgres import Pool

NOW = datetime(2026, 11, 28, tzinfo=UTC)
HELD = EntryDraft("skymiles", EntryKind.HELD, Decimal("2.50"), "SGD", "app", Direction.OUT, uuid4(), None, 2500, 1000)
PAID = EntryDraft("skymiles", EntryKind.PAYMENT, Decimal(100), "SGD", "ann", document="INV-1")


async def _write(pool: Pool, *drafts: EntryDraft) -> None:
    async with pool.acquire() as connection, connection.transaction():
        locked = await locked_standings(connection, {each.programme for each in drafts})
        await write_entries(connection, locked, drafts, NOW)


async def test_entries_are_numbered_and_add_up_whoever_writes_at_the_same_time(pool: Pool) -> None:
    others = [HELD._replace(exchange_id=uuid4(), programme=name) for name in ("skymiles", "bankpoints") * 5]
    await asyncio.gather(
        _write(pool, PAID, HELD), *(_write(pool, each, PAID._replace(programme="a")) for each in others)
    )
    for name, standing in (await standings(pool)).items():
        entries = await entries_behind(pool, name, 0, 100)
        assert [each.n for each in entries] == list(range(1, standing.last_n + 1))
        assert standing.balance == sum(change(each.kind, each.money) for each in entries) == entries[-1].balance_after
    assert await entries_behind(pool, "skymiles", 3, 2) == (await entries_behind(pool, "skymiles", 0, 5))[3:]


async def test_an_exchange_has_one_entry_of_a_kind(pool: Pool) -> None:
    await _write(pool, HELD)
    with pytest.raises(asyncpg.UniqueViolationError):
        await _write(pool, HELD)
    assert (await standings(pool))["skymiles"].last_n == 1


@pytest.mark.parametrize("statement", ["update exchange_position set money = 0", "delete from exchange_position"])
async def test_entries_are_never_changed(pool: Pool, statement: str) -> None:
    await _write(pool, PAID)
    with pytest.raises(asyncpg.PostgresError):
        await pool.execute(statement)
