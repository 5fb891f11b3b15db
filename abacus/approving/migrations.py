"""The move of members to another version of their journey, as another person approves it.

The approval moves nobody: ten million members take longer than an answer may. `JourneyDesk.migrate` moves them by it.
"""

import json

from abacus.core.clock import Clock
from abacus.people.decide.agreement import canonical, check_unchanged
from abacus.people.store.approvals import Executor
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.approval import Approval
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Pool, passing_failures


def migrating(pool: Pool, clock: Clock) -> Executor:
    """Writes into the log that the members may be moved."""

    async def allow(approval: Approval, also: Also) -> None:
        content = json.loads(approval.document)
        check_unchanged(approval, canonical(content))
        entry = entry_of(
            approval.asked_by,
            Deed.EDIT_JOURNEYS,
            f"journey:{approval.subject}",
            clock.now(),
            country=approval.country,
            did="allow-migration",
            approved_by=approval.decided_by,
            **content,
        )
        async with passing_failures(), pool.acquire() as connection, connection.transaction():
            await with_entry(also, entry)(connection)

    return allow
