"""Exchanges of the console's tests: of bob, that wait for somebody."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.turn import Reason
from abacus.exchanges.exchange_rows import tell
from tests.console.desk import Desk
from tests.support.exchange_rows import enter, exchange
from tests.support.exchanges import LINK_ID

EXCHANGE_ID: Final = UUID(int=4711)


async def set_aside(open_desk: Desk, exchange_id: UUID = EXCHANGE_ID, **fields: Any) -> Exchange:
    """The partner has credited another amount, two days ago."""
    then = open_desk.clock.now() - timedelta(days=2)
    times = {"quoted_at": then, "asked_at": then, "sent_at": then, "changed_at": then, "late_at": then}
    said = {"reason": Reason.OTHER_AMOUNT, "detail": "900 credited in place of 1000", "reference": "REF-7"}
    rest = {"exchange_id": exchange_id, "state": State.ASIDE, "link_id": LINK_ID, "turns": 2, **times, **said, **fields}
    row = await enter(open_desk.pool, exchange(**rest))
    first = Turn(exchange_id, 1, State.SENT, then, "exchanger", None, None)
    async with open_desk.pool.acquire() as connection:
        await tell(connection, [first, Turn(exchange_id, 2, row.state, then, "exchanger", row.reason, row.detail)])
    return row
