"""How long messages waited, minute by minute of the last hour: of one process of the console."""

import asyncio
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from abacus.console.decide.waits import RELAY, WEBHOOKS, Reading
from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.oversight.status.capabilities import figures_of, undelivered
from abacus.oversight.status.sources import notes, relay
from abacus.platform.postgres import Pool

_EVERY_S: Final = 60.0
_KEPT: Final = 60


class ReadingMemory:
    """The readings, the oldest first."""

    def __init__(self) -> None:
        self._readings: deque[Reading] = deque(maxlen=_KEPT)

    @property
    def readings(self) -> Sequence[Reading]:
        return tuple(self._readings)

    def note(self, reading: Reading) -> None:
        self._readings.append(reading)

    async def keep_reading(self, pool: Pool, clock: Clock, *, topic: str, prefix: str) -> None:
        """Until cancelled. While the database is away nothing is noted."""
        while True:
            with suppress(Unavailable):
                self.note(await reading_of(pool, clock, topic=topic, prefix=prefix))
            await asyncio.sleep(_EVERY_S)


async def reading_of(pool: Pool, clock: Clock, *, topic: str, prefix: str) -> Reading:
    """By the notes of workers and the rows that wait: of a queue that no worker receives from nothing is known. Raises
    `Unavailable`.
    """
    queues = (await notes(pool, clock)).oldest_s
    unpublished = (await relay(pool, topic, clock, most=1)).oldest_posted_at
    webhook, now = figures_of(await undelivered(pool, clock)).get("oldest_webhook_at"), clock.now()
    return Reading(
        now,
        {
            **{name.removeprefix(prefix): age for name, age in queues.items()},
            RELAY: _age(unpublished, now),
            WEBHOOKS: _age(webhook if isinstance(webhook, datetime) else None, now),
        },
    )


def _age(since: datetime | None, now: datetime) -> float:
    return max(0.0, (now - since).total_seconds()) if since is not None else 0.0
