"""Work for one programme, of which a fault holds up no other programme."""

from collections.abc import Awaitable

import structlog

from abacus.core.errors import LineStopped, Unavailable

log = structlog.get_logger(__name__)


async def alone(programme: str, doing: Awaitable[int]) -> int:
    """What it returns, or else 0. Raises `Unavailable` and `LineStopped`, which concern all programmes."""
    try:
        return await doing
    except (Unavailable, LineStopped):
        raise
    except Exception:
        log.exception("work for a programme is put aside", programme=programme)
        return 0
