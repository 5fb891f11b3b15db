"""Accounts with histories written straight into the ledger's tables, so that reports meet every kind of transfer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

import orjson

from abacus.platform.postgres import Connection, Pool
from tests.support.slices import home_of

NOON: Final = datetime(2026, 1, 15, 12, tzinfo=UTC)

_TRANSFER: Final = """
insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    expires_on, explanation, source, vests_on, vests_at, hash)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13::timestamptz::date, $13, '')
"""
_ACCOUNT: Final = """
insert into account (member_id, program, country, balance, held, expires_on, last_seq, lots_closed, lots_drawn,
    lifetime)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""
_DRAW: Final = "insert into draw (member_id, program, lot_seq, seq, points) values ($1, $2, $3, $4, $5)"


@dataclass(frozen=True)
class Move:
    """One transfer. `draws` says how many points it takes by name, from which lot; `under` is its key, where it is not
    the key of a transaction or of the partner. Points that are pending vest at a time.
    """

    kind: str
    points: int
    at: datetime = NOON
    tier: str | None = None
    partner: str | None = None
    source: str | None = None
    under: str | None = None
    expires_on: date | None = None
    draws: Sequence[tuple[int, int]] = ()
    explanation: dict[str, Any] = field(default_factory=dict)
    vests_at: datetime | None = None

    @property
    def explained(self) -> bytes:
        said: dict[str, Any] = {"points": self.points, **self.explanation}
        if self.tier is not None:
            said["factors"] = [["vertical", "food", "2"], ["eppf", "SG", "1"], ["cashless", "cash", "1"]]
            said["factors"].append(["tier", self.tier, "1"])
        return orjson.dumps(said)

    def key(self, number: str) -> str:
        if self.under is not None:
            return f"{self.under}:{number}"
        return f"txn:test:{number}" if self.partner is None else f"api:{self.partner}:{number}"


@dataclass(frozen=True)
class History:
    """An account from its first transfer on."""

    member_id: str
    moves: Sequence[Move]
    program: str = "GRP"
    country: str = "SG"
    held: int = 0
    expires_on: date | None = None
    lifetime: bool = False
    lots_closed: int = 0
    lots_drawn: int = 0

    @property
    def balance(self) -> int:
        return sum(move.points for move in self.moves)


async def write(pool: Pool, histories: Iterable[History]) -> None:
    for history in histories:
        async with pool.acquire(schema=await home_of(pool, history.member_id)) as connection, connection.transaction():
            await _write(connection, history)


async def _write(connection: Connection, history: History) -> None:
    account = history.member_id, history.program
    balance = 0
    for seq, move in enumerate(history.moves, 1):
        balance += move.points
        key = move.key(f"{history.member_id}-{history.program}-{seq}")
        facts = (seq, move.kind, move.points, balance, key, history.country, move.at, move.expires_on)
        await connection.execute(_TRANSFER, *account, *facts, move.explained, move.source, move.vests_at)
        for lot, points in move.draws:
            await connection.execute(_DRAW, *account, lot, seq, points)
    state = (history.country, balance, history.held, history.expires_on, len(history.moves))
    lots = (history.lots_closed, history.lots_drawn, history.lifetime)
    await connection.execute(_ACCOUNT, *account, *state, *lots)
