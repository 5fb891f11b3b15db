"""Deletes what the console does not need any more: old sessions, links, keys of forms, and errands."""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

KEPT: Final = timedelta(days=31)  # no session lasts longer
_EVERY_S: Final = 3600.0
_OLD: Final = (
    Statement("delete from console_session where started_at < :before"),
    Statement("delete from console_link where expires_at < :before"),
    Statement("delete from console_selection where made_at < :before"),
    Statement("delete from console_form where done_at < :before"),
    Statement("""
    with old as (delete from console_errand where asked_at < :before returning errand_id)
    delete from console_errand_file f using old where f.errand_id = old.errand_id
    """),
)

log = structlog.get_logger(__name__)


async def tidy(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    before = clock.now() - KEPT
    async with passing_failures():
        for statement in _OLD:
            await pool.execute(*statement(before=before))


async def keep_tidying(pool: Pool, clock: Clock, approvals: Approvals) -> None:
    """Runs until cancelled. Approvals also end when somebody looks at them: here for a house in which nobody does."""
    while True:
        try:
            await tidy(pool, clock)
            await approvals.expire()
        except Unavailable as error:
            log.warning("old rows of the console stay", away=error)
        await asyncio.sleep(_EVERY_S)
