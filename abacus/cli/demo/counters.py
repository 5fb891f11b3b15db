"""What the demo counts: the rides, meals and payments of its stream, and points by where they come from."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.counters.reading.types import Lookup
from abacus.signals.counters.wiring import counts_now
from abacus.signals.events.decide.source import Source
from abacus.signals.events.wiring import built_in_sources

KEY_OF_POINTS: Final = "demo:points:"
_COMPLETED: Final = "transactions/transaction.completed"
_COUNTERS: Final[Sequence[Mapping[str, Any]]] = (
    {
        "id": 999_991,
        "name": "demo_rides",
        "template": "demo:rides:{country}",
        "on": [_COMPLETED],
        "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "rides"},
    },
    {
        "id": 999_992,
        "name": "demo_meals",
        "template": "demo:meals:{member_id}",
        "on": [_COMPLETED],
        "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "food"},
    },
    {"id": 999_993, "name": "demo_payments", "template": "demo:payments:{payment_type}", "on": [_COMPLETED]},
)
_POINTS: Final[Mapping[str, Any]] = {
    "id": 999_994,
    "name": "demo_points",
    "template": KEY_OF_POINTS + "{source}",
    "on": ["points/abacus.points.earned.v1"],
    "add": "var.points",
}
_SHOWN: Final = ("demo:rides:SG", "demo:meals:eve", "demo:payments:wallet")
_KEEP: Final = {"days": "10y"}  # the stream's own time is some day in 2026
_WITH_MINUTES: Final = {**_KEEP, "minutes": "48h"}
_SINCE: Final = datetime(2026, 1, 1, tzinfo=UTC)


def definitions(sources: Sequence[Source], of_points: Mapping[str, str] = _KEEP) -> list[Definition]:
    """They count what is sent from the moment on at which they are published. Counts of points are kept so long."""
    by_name = {source.name: source for source in sources}
    counters = [*({**each, "keep": _KEEP} for each in _COUNTERS), {**_POINTS, "keep": of_points}]
    return [parse_definition(each, by_name) for each in counters]


async def publish_counters(complete: Settings, pool: Pool) -> None:
    """Publishes the definitions that are not there yet."""
    store, sources = DocumentStore(pool, COUNTERS), built_in_sources(complete)
    known = {record.document.name for record in await store.latest()}
    drafts = [each for each in definitions(sources, _WITH_MINUTES) if each.name not in known]
    await store.publish(drafts, held_sources(sources), by="abacus demo", now=SystemClock().now())


async def shown_counts(complete: Settings, pool: Pool) -> Mapping[str, int]:
    """A count under one key of each counter."""
    now = SystemClock().now()
    lookups = [Lookup(key, int(_SINCE.timestamp()), int(now.timestamp())) for key in _SHOWN]
    counts = await counts_now(lookups, pool, complete, now)
    return {key: int(each.value) for key, each in zip(_SHOWN, counts, strict=True)}
