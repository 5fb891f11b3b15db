"""`abacus counters get`: one count, read from the store."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.shell import moment, pool, settings
from abacus.core.clock import SystemClock
from abacus.signals.counters.decide.tiles import end_of_quarter
from abacus.signals.counters.reading.types import Lookup
from abacus.signals.counters.wiring import counts_now


async def get(
    key: Annotated[str, typer.Argument(metavar="KEY", help="rain_drops:city:111222", show_default=False)],
    begin: Annotated[str, typer.Option("--from", metavar="TIME", help="With an offset.", show_default=False)],
    end: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="TIME", help="With an offset. Default: the end of the running quarter of an hour."
        ),
    ] = None,
) -> Answer:
    """Count the events of a key in a range of time, whose ends are floored to the quarter of an hour.

    Without --to everything is in it that was counted so far.
    """
    now = SystemClock().now()
    until = end_of_quarter(int(now.timestamp())) if end is None else _second("--to", end)
    lookup = Lookup(key, _second("--from", begin), until)
    async with pool() as connections:
        (counted,) = await counts_now([lookup], connections, settings(), now)
    times = [datetime.fromtimestamp(at, UTC) for at in (counted.begin, counted.end)]
    return Answer(
        {"key": key, "from": times[0], "to": times[1], "count": counted.value},
        f"{key}: {counted.value:,} from {times[0]:%Y-%m-%d %H:%M} to {times[1]:%Y-%m-%d %H:%M} UTC",
    )


def _second(option: str, text: str) -> int:
    return int(moment(option, text).timestamp())
