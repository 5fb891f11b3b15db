"""For the tests of tiers: points of the stream, a keeper over a database, and the rows that it leaves."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, Final

from abacus.core.sources import STREAM
from abacus.ledger.decide.chain import CURRENT
from abacus.ledger.types.account import NO_HASH
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record, StartAgain
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.programs.tiers.keeper import Keeper
from tests.programs.tiers.cards import book
from tests.support.fixed_clock import FixedClock

NOW = datetime(2026, 11, 21, tzinfo=UTC)
MARCH = datetime(2026, 3, 10, 4, tzinfo=UTC)
AUGUST = datetime(2026, 8, 1, 4, tzinfo=UTC)
_PAUSE_S: Final = 0.05


class FixedCards:
    """A book of cards, and a later one for readers that look again."""

    def __init__(self, cards: CardBook | None = None, later: CardBook | None = None) -> None:
        self._book = cards or book()
        self._later = later

    def book(self) -> CardBook:
        return self._book

    async def read_anew(self) -> None:
        self._book = self._later or self._book


def earned(member: str, seq: int, points: int, at: datetime = MARCH, **changed: Any) -> Record:
    transfer = Transfer(
        member_id=member,
        program="GRP",
        seq=seq,
        kind=TransferKind.EARN,
        points=points,
        balance_after=points,
        key=f"k:{seq}",
        country="SG",
        occurred_at=at,
        posted_at=at,
        expires_on=None,
        explanation=b"{}",
        reverses=None,
        actor=None,
        source=STREAM,
        lifetime=False,
        vests_on=None,
        vests_at=None,
        format=CURRENT,
        hash=NO_HASH,
    )
    return Record(encode_event(transfer._replace(**changed)), "points", 0, seq)


def reversed_(member: str, seq: int, points: int, at: datetime = MARCH) -> Record:
    """A reversal of so many points, made of the event of an award."""
    record = earned(member, seq, -points, at)
    value = record.value.replace(b"points.earned", b"points.reversed").replace(b'"earn"', b'"reverse"')
    return record._replace(value=value)


def keeper(pool: Pool, cards: FixedCards | None = None) -> Keeper:
    return Keeper(pool, cards or FixedCards(), FixedClock(NOW), WorkerHealth("tierkeeper"))


async def keep_until(done: asyncio.Event, keeping: Keeper, members: Sequence[str]) -> int:
    """The keeper hears rounds of points for the members, as a reader of the topic: after a fresh start from the first
    round that stayed behind. Returns the number of rounds.
    """
    most = heard = 0
    behind: list[int] = []
    while not done.is_set() or heard < most or behind:
        comes = [heard + 1] if not done.is_set() or heard < most else []
        try:
            left = await keeping.handle([earned(member, each, 10) for each in comes for member in members])
        except StartAgain:
            heard, behind = behind[0] - 1, []
            continue
        behind += comes if left else []
        heard += len(comes)
        most = max(most, heard)
        if not comes:
            await asyncio.sleep(_PAUSE_S)
    return most


async def tiers(pool: Pool) -> dict[str, tuple[str, date | None]]:
    rows = await pool.fetch("select member_id, tier, until from account_tier order by member_id")
    return {row[0]: (row[1], row[2]) for row in rows}


async def told(pool: Pool) -> list[tuple[str, int, str, str, str]]:
    """Every change, in the order of each account."""
    rows = await pool.fetch(
        "select member_id, n, from_tier, to_tier, reason from tier_change order by member_id, program, n"
    )
    return [tuple(row) for row in rows]


async def everything(pool: Pool) -> list[Sequence[Any]]:
    """All rows that counting leaves behind, without the number of changes on the way."""
    accounts = await pool.fetch(
        "select member_id, program, country, tier, until, last_seq from account_tier order by 1, 2"
    )
    tallies = await pool.fetch("select * from tier_tally order by member_id, program, starts_on, ends_on")
    return [tuple(row) for row in (*accounts, *tallies)]
