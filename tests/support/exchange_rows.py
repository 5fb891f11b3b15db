"""A programme with a past, and exchanges that came to their states, for tests of books and files."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import Direction, Money, Prefunded
from abacus.exchanges.exchange_rows import enter as enter_rows
from abacus.platform.postgres import Pool
from tests.support.exchanged import SKYMILES, skymiles
from tests.support.exchanged import exchange as drawn

NOW = datetime(2026, 7, 10, 12, tzinfo=UTC)
PROGRAMME = skymiles(
    partner="skyline",
    starts_at=datetime(2026, 1, 1, tzinfo=UTC),
    ends_at=datetime(2027, 1, 1, tzinfo=UTC),
    directions={Direction.OUT: SKYMILES.directions[Direction.OUT]},
    money=Money("SGD", "SR", Prefunded(Decimal(50))),
)


def exchange(state: State = State.SENT, **changed: Any) -> Exchange:
    """Of 2,500 points for 1,000 miles."""
    return drawn(state, **{"exchange_id": uuid4(), "partner": "skyline", "asked_at": NOW, **changed})


async def enter(pool: Pool, row: Exchange) -> Exchange:
    await enter_rows(pool, [row])
    return row
