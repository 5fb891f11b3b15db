"""Reads what came in from a partner on a day."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import absent
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.decide.inbound_statement import InboundLine, InboundStatement, bounds, is_complete
from abacus.exchanges.decide.programme import Direction, Programme
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

_AWARDED: Final = Statement(f"""
select reference, theirs, points, credited_at from exchange
where programme = :programme and partner = :partner and direction = '{Direction.IN}' and state = '{State.AWARDED}'
    and credited_at >= :begins and credited_at < :ends
order by credited_at, reference
""")

# The version of a programme that was in force last. Raises `Unavailable`.
LastOf = Callable[[str], Awaitable[Programme | None]]


class InboundStatements:
    """For partners, of their own programmes, ended ones too."""

    def __init__(self, pool: Pool, clock: Clock, last_of: LastOf) -> None:
        self._pool = pool
        self._clock = clock
        self._last_of = last_of

    async def of(self, partner: str, programme: str, day: date) -> InboundStatement:
        """Raises `Absent` for a programme that is not the partner's, and `Unavailable`."""
        found = await self._last_of(programme)
        if found is None or found.partner != partner:
            raise absent("programme", programme)
        now, (begins, ends) = self._clock.now(), bounds(day)
        async with passing_failures():
            rows = await self._pool.fetch(*_AWARDED(programme=programme, partner=partner, begins=begins, ends=ends))
        return InboundStatement(programme, day, is_complete(day, now), [InboundLine(*row) for row in rows])
