"""A programme, and exchanges that came to their states, for tests."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import ByHttp, Direction, Money, Offered, Prefunded, Programme
from abacus.exchanges.decide.terms import Ratio, Terms
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns, parameters

NOW = datetime(2026, 7, 10, 12, tzinfo=UTC)
PROGRAMME = Programme(
    name="skymiles",
    partner="skyline",
    country="SG",
    program="GRP",
    unit="miles",
    timezone="Asia/Singapore",
    starts_at=datetime(2026, 1, 1, tzinfo=UTC),
    ends_at=datetime(2027, 1, 1, tzinfo=UTC),
    directions={Direction.OUT: Offered(Terms(Ratio(5, 2), 500, 500, 100_000), Decimal("0.01"))},
    carrier=ByHttp("https://skyline.example"),
    money=Money("SGD", "SR", Prefunded(Decimal(50))),
    version=1,
)
_INSERT = Statement(f"insert into exchange ({columns(Exchange)}) values ({parameters(Exchange)})")


def exchange(**fields: Any) -> Exchange:
    """One of 2,500 points for 1,000 miles that was sent."""
    row = Exchange(
        exchange_id=uuid4(),
        direction=Direction.OUT,
        programme="skymiles",
        version=1,
        partner="skyline",
        member_id="bob",
        program="GRP",
        country="SG",
        link_id=uuid4(),
        points=2500,
        theirs=1000,
        fee=0,
        key=None,
        fingerprint="",
        actor="app",
        source="partner:app",
        state=State.SENT,
        reason=None,
        detail=None,
        reference=None,
        quoted_at=NOW,
        expires_at=NOW,
        asked_at=NOW,
        sent_at=NOW,
        credited_at=None,
        ended_at=None,
        changed_at=NOW,
        due_at=None,
        late_at=None,
        attempts=1,
        turns=1,
        file=None,
    )
    return row._replace(**fields)


async def enter(pool: Pool, row: Exchange) -> Exchange:
    await pool.execute(*_INSERT(**row._asdict()))
    return row
