"""`abacus counters series` and `abacus counters keys`: counts slot by slot, and which keys a counter has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.shell import moment, pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.engage.series import house_sums
from abacus.signals.counters.counter_desk import CounterDesk
from abacus.signals.counters.reading.types import SeriesLookup
from abacus.signals.counters.types import Grain
from abacus.signals.counters.wiring import reading_desk

_MOST: Final = 100

From = Annotated[str, typer.Option("--from", metavar="TIME", help="With an offset.", show_default=False)]
To = Annotated[str | None, typer.Option("--to", metavar="TIME", help="With an offset. Default: now.")]


class GrainName(StrEnum):
    """The length of a slot."""

    MINUTE = "minute"
    QUARTER = "quarter"
    HOUR = "hour"
    DAY = "day"


async def series(
    key: Annotated[str, typer.Argument(metavar="KEY", help="rain_drops:city:111222", show_default=False)],
    begin: From,
    end: To = None,
    grain: Annotated[GrainName, typer.Option(help="The length of a slot.")] = GrainName.HOUR,
) -> Answer:
    """Count the events of a key slot by slot. Slots without events are zeros; the slot of the present is the last.

    What campaigns and journeys add up by day is told too: @campaign:NAME:done, @journey:NAME:entered.
    """
    async with _desk() as desk:
        (told,) = await desk.series([SeriesLookup(key, _second("--from", begin), _until(end), Grain[grain.name])])
    slots = [(datetime.fromtimestamp(at, UTC), value) for at, value in zip(told.begins, told.values, strict=True)]
    document = {"key": key, "grain": grain.value, "slots": [list(each) for each in slots], "open": told.is_open}
    rows = [[f"{at:%Y-%m-%d %H:%M}", f"{value:,}"] for at, value in slots]
    shown = ["the last slot has not ended"] if told.is_open else []
    return Answer(document, Table(key, ["since, UTC", "#count"], rows), *shown)


async def keys(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    top: Annotated[
        int | None, typer.Option(min=1, max=_MOST, help="So many keys with the largest counts; needs --from.")
    ] = None,
    begin: Annotated[str | None, typer.Option("--from", metavar="TIME", help="Of the range of --top.")] = None,
    end: To = None,
    after: Annotated[str, typer.Option(metavar="KEY", help="The keys behind this one.")] = "",
) -> Answer:
    """List keys of a counter in their order, 100 at a time; or the keys with the largest counts in a range."""
    if (top is None) != (begin is None):
        raise Refused("--top and --from belong together")
    async with _desk() as desk:
        if top is None or begin is None:
            page = await desk.keys(name, after, _MOST)
            more = [f"more: --after {page.next}"] if page.next is not None else []
            return Answer({"keys": list(page.keys), "next": page.next}, *page.keys, *more)
        largest = await desk.top(name, _second("--from", begin), _until(end), top)
    times = [datetime.fromtimestamp(at, UTC) for at in (largest.begin, largest.end)]
    rows = [[each.key, f"{each.value:,}"] for each in largest.keys]
    document = [{"key": each.key, "count": each.value} for each in largest.keys]
    title = f"{counted(len(rows), 'key')} of {name}"
    return Answer({"keys": document, "from": times[0], "to": times[1]}, Table(title, ["key", "#count"], rows))


@asynccontextmanager
async def _desk() -> AsyncIterator[CounterDesk]:
    async with pool() as connections, reading_desk(connections, settings(), house_sums(connections)) as desk:
        yield desk


def _until(end: str | None) -> int:
    return int(SystemClock().now().timestamp()) + 1 if end is None else _second("--to", end)


def _second(option: str, text: str) -> int:
    return int(moment(option, text).timestamp())
