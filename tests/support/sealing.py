"""A small ledger with real cards and explanations, for the tests that verify, seal, and tamper."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from typing import Final

import asyncpg

from abacus.cli.examples import example_cards
from abacus.core.sources import STREAM
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.postgres import Connection, Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.formula import rate_of, worth
from abacus.proof.decide.recheck import Recheck
from tests.support.fixed_clock import FixedClock
from tests.support.neighbours import neighbours_are_through

NOW: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)
BOOK: Final = CardBook(PublishedCard(card, 1) for card in example_cards())
RECHECK: Final = Recheck(BOOK)
_RATE: Final = rate_of(BOOK.in_force("SG", NOW), "food", "wallet", "member")


def earned(member: str, number: int, amount: str = "15.00", program: str = "GRP") -> Award:
    points, explanation = worth(amount, _RATE)
    activity = True
    return Award(
        f"txn:meals:{member}-{number}",
        member,
        program,
        "SG",
        TransferKind.EARN,
        points,
        NOW,
        date(2026, 12, 31),
        activity,
        "0123456789abcdef",
        explanation,
        STREAM,
    )


async def fill(pool: Pool, *members: str, transfers: int = 3) -> None:
    """Give each member so many transfers more, and wait until the next seal has them all: a seal ends before the oldest
    open transaction of the whole server.
    """
    ledger = PostgresLedger(pool, FixedClock(NOW))
    for _ in range(transfers):
        so_far = dict(map(tuple, await pool.fetch("select member_id, max(last_seq) from account group by 1")))
        await ledger.post([earned(member, so_far.get(member, 0) + 1, f"{15 + len(member)}.00") for member in members])
    await neighbours_are_through(pool)


@asynccontextmanager
async def tampering(database_url: str) -> AsyncIterator[Connection]:
    """A superuser who has switched the triggers off."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("set session_replication_role = replica")
        yield connection
    finally:
        await connection.close()
