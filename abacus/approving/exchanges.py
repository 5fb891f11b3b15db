"""A large exchange that another person has reviewed: it is sent to its partner."""

import json
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.sources import name_of
from abacus.exchanges.decide.turn import WrongState, approved, trail
from abacus.exchanges.exchange_rows import Step, locked, write
from abacus.exchanges.reviews import proposal_of
from abacus.people.decide.agreement import check_unchanged
from abacus.people.store.approvals import Executor
from abacus.people.types.approval import Approval, CannotExecute
from abacus.platform.postgres import Also, Pool, passing_failures


def reviewing(pool: Pool, clock: Clock) -> Executor:
    """Lets go what was approved, in the name of the person who approved it."""

    async def review(approval: Approval, also: Also) -> None:
        exchange_id, by = UUID(json.loads(approval.document)["exchange_id"]), str(approval.decided_by)
        async with passing_failures(), pool.acquire() as connection, connection.transaction():
            exchange = (await locked(connection, [exchange_id])).get(exchange_id)
            if exchange is None:
                raise CannotExecute(f"there is no exchange {exchange_id} any more")
            check_unchanged(approval, proposal_of(exchange).document)
            now = clock.now()
            try:
                after = approved(exchange, now, name_of(by))
            except WrongState as fault:
                raise CannotExecute(str(fault)) from None
            told = trail(exchange, after, now, by)
            await write(connection, [Step(exchange, after, [told] if told else [])])
            await also(connection)

    return review
