"""The counters of a run, and a plain count of its stream to hold them against. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from abacus.core.errors import SetAside
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.source import Source
from tests.reliability.chaos.judge import few

_COMPLETED: Final = "transactions/transaction.completed"
_COUNTERS: Final[Sequence[Mapping[str, Any]]] = (
    {"id": 1, "name": "of_member", "template": "member:{member_id}", "on": [_COMPLETED]},
    {"id": 2, "name": "paid_in", "template": "paid:{currency}", "on": [_COMPLETED], "add": "var.amount"},
    {
        "id": 3,
        "name": "rides_in",
        "template": "rides:{country}:{payment_type}",
        "on": [_COMPLETED],
        "when": {"operator": "eq", "lhs": "var.vertical", "rhs": "rides"},
    },
)
_KEPT: Final = timedelta(days=700)  # days are, for two years
_CENT: Final = 100

Sums = Mapping[str, int]


class Arrival(NamedTuple):
    """A message as it stands in the topic."""

    partition: int
    offset: int
    body: bytes


class PlainCount(NamedTuple):
    """The units under each key, and how many messages were set aside."""

    sums: Sums
    set_aside: int


def definitions(sources: Iterable[Source]) -> list[Definition]:
    """The counters of each run: transactions of each member, amounts, and rides under a condition."""
    by_name = {each.name: each for each in sources}
    return [parse_definition(each, by_name) for each in _COUNTERS]


def plain_count(arrivals: Iterable[Arrival], source: Source, now: datetime) -> PlainCount:
    """Each event once in its partition, added one by one."""
    reader = EventReader([source], source.topic or "", events_topic="", only={source.name: ["transaction.completed"]})
    sums: Counter[str] = Counter()
    set_aside, seen = 0, set[tuple[int, str]]()
    for partition, _, body in sorted(arrivals):
        try:
            event = reader.read(body, now)
        except SetAside:
            set_aside += 1
            continue
        if event is None or (partition, event.key) in seen:
            continue
        seen.add((partition, event.key))
        if event.occurred_at < now - _KEPT:
            continue
        of = event.variables
        sums[f"member:{event.member_id}"] += 1
        sums[f"paid:{of['currency']}"] += int(Decimal(str(of["amount"])) * _CENT)
        if of["vertical"] == "rides":
            sums[f"rides:{event.country}:{of['payment_type']}"] += 1
    return PlainCount({key: units for key, units in sums.items() if units}, set_aside)


def faults_of_counts(expected: PlainCount, sums: Sums, tallied_aside: int, held_aside: int) -> Iterator[str]:
    """Keys with another sum than the plain count, and messages that are set aside otherwise. `sums` are by key."""
    keys = sorted(expected.sums.keys() | sums.keys())
    wrong = [(key, sums.get(key, 0), expected.sums.get(key, 0)) for key in keys]
    yield from few("counted wrongly", [f"{key}: {got}, not {due}" for key, got, due in wrong if got != due])
    for where, count in (("tallied", tallied_aside), ("held", held_aside)):
        if count != expected.set_aside:
            yield f"{count} messages are {where} as set aside by the counter, not {expected.set_aside}"
