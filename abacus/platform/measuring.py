"""Gauges that are read out of the database from time to time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog
from prometheus_client import Gauge

from abacus.core.errors import Unavailable

_EVERY_S: Final = 10.0

log = structlog.get_logger(__name__)


async def keep_measuring(what: str, measure: Callable[[], Awaitable[None]], *, every_s: float = _EVERY_S) -> None:
    """Until cancelled. A gauge keeps what it told last while the database is away."""
    while True:
        try:
            await measure()
        except Unavailable as error:
            log.warning("gauges are not measured", of=what, away=error)
        await asyncio.sleep(every_s)


def set_series(gauge: Gauge, values: Mapping[str, float]) -> None:
    """By the gauge's only label. A series that has no value any more is told no more."""
    gauge.clear()
    for label, value in values.items():
        gauge.labels(label).set(value)
