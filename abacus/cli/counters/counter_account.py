"""`abacus counters reconcile`: what became of every event that a counter has seen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

import typer

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Line, Shown, Table, counted
from abacus.cli.terminal.shell import pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import absent
from abacus.platform.kafka.offsets import ends_of
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.decide.account import EventFates, PartitionAccount, waiting
from abacus.signals.events.wiring import built_in_sources

_COLUMNS: Final = (
    *("topic", "by", "partitions", "seen", "counted", "ignored", "repeated", "set aside", "no event", "waiting"),
)


async def reconcile(
    topic: Annotated[str | None, typer.Argument(metavar="[TOPIC]", show_default=False)] = None,
) -> Answer:
    """Account for the events of each topic: seen = counted + ignored + repeated + set aside. Exit 1 when it does not
    come out. Where a broker is set, it also says how many wait to be counted. Counters that
    refused keys because a day had enough new ones are named too, whatever their topic.
    """
    async with pool() as opened:
        desk = CounterDesk(opened, SystemClock(), built_in_sources(settings()))
        found = [each for each in await desk.accounts() if topic in (None, each.topic)]
        refused = await desk.refused_keys()
    if topic is not None and not found:
        raise absent("topic that a counter has read", topic)
    bootstrap, topics = settings().kafka_bootstrap, {each.topic for each in found}
    ends = {} if bootstrap is None else {each: await ends_of(bootstrap, each) for each in topics}
    left = waiting(found, ends)
    faults = [(each, fault) for each in found for fault in each.faults]
    partitions = [_document(each, left.get(each)) for each in found]
    days = [{"counter": each.counter, **each.of_day._asdict()} for each in refused]
    document = {"comes_out": not faults, "partitions": partitions, "refused_keys": days}
    warnings = (
        Line(
            f"{counter} had {counted(admitted, 'new key')} on {day}, and refused {counted(events, 'event')} of more",
            "yellow",
        )
        for counter, (day, admitted, events) in refused
    )
    return Answer(document, *_shown(found, left, faults), *warnings, exit_code=EXIT_FAILED if faults else 0)


def _document(each: PartitionAccount, left: int | None) -> Mapping[str, Any]:
    return {**each._asdict(), "without_event": each.without_event, "waiting": left, "faults": each.faults}


def _shown(
    found: Sequence[PartitionAccount],
    left: Mapping[PartitionAccount, int],
    faults: Sequence[tuple[PartitionAccount, str]],
) -> Iterator[str | Shown]:
    together: dict[tuple[str, int, str | None], list[PartitionAccount]] = {}
    for each in found:
        together.setdefault((each.topic, each.generation, each.counter), []).append(each)
    yield Table("Events by topic", _COLUMNS, [_row(some, left) for some in together.values()])
    for each, fault in faults:
        yield Line(f"{each.topic}, partition {each.partition}: {fault}", "red")
    seen = sum(each.seen for each in found)
    yield f"{counted(seen, 'event')}: {'IT DOES NOT COME OUT' if faults else 'it comes out'}"


def _row(some: Sequence[PartitionAccount], left: Mapping[PartitionAccount, int]) -> list[object]:
    """The partitions of one topic and writer together."""
    first, fates = some[0], EventFates().plus(*(each.fates for each in some))
    name = first.topic if first.generation == 1 else f"{first.topic}, created again ({first.generation})"
    by = "the counter" if first.counter is None else f"backfill of {first.counter}"
    waits = f"{sum(left[each] for each in some):,}" if all(each in left for each in some) else "–"
    figures = (len({each.partition for each in some}), *fates, sum(each.without_event for each in some))
    return [name, by, *(f"{figure:,}" for figure in figures), waits]
