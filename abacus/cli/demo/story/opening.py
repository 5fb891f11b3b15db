"""Opens an empty house for the story, and tells it."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, date, datetime
from typing import Final, NamedTuple

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from abacus.approving.executors import approving
from abacus.cli.demo.chapters import chapters_of
from abacus.cli.demo.story.clock import walking_clock
from abacus.cli.demo.story.house import House
from abacus.cli.demo.story.telling import days_of, first_day, morning, tell
from abacus.cli.house.free_ports import on_free_ports
from abacus.cli.house.stack import running
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.terminal.answer import errors
from abacus.cli.terminal.shell import database
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.wiring import alone_of
from abacus.people.wiring import terms_of
from abacus.platform.kafka.groups import open_lags
from abacus.platform.kafka.publisher import StreamPublisher
from abacus.platform.settings import Settings
from abacus.signals.events.wiring import built_in_sources
from workers import FOLLOWERS, PIPELINE

OF_THE_STORY: Final[Mapping[str, object]] = {"webhooks_to_private": True}  # the partner's server is on this machine
PARTITIONS: Final = 4  # of each topic, for some megabytes; every reader asks for each of them ten times a second
_GATHER_S: Final = 0.2  # for the notices of one member
_COLUMNS: Final = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
_WORKERS: Final = (*PIPELINE, *FOLLOWERS, "counter", "campaigner", "journeyer", "offers", "api", "webhooks")


class Told(NamedTuple):
    """When the story begins, and the transactions in it: sent, awarded, and awarded before."""

    begin: datetime
    sent: int
    awarded: int
    again: int
    seconds: float


async def told(complete: Settings, starting: StartProgress, *, quiet: bool) -> Told:
    """Tells the story in a house that has none. Its workers run until it is told."""
    now = datetime.now(UTC)
    days = days_of(first_day(now), now)
    begin = morning(days[0])
    started = time.perf_counter()
    with Progress(*_COLUMNS, console=errors, transient=True, disable=quiet or not errors.is_terminal) as progress:
        bar = progress.add_task("six months", total=len(days))
        async with _opened(complete, begin, now.date()) as house:
            chapters = chapters_of(house)
            for chapter in chapters:
                await chapter.begin()
            async with running(_WORKERS, house.settings, starting, clock=house.clock) as house.workers:
                starting.tell("telling six months of history, day by day")
                await tell(house, chapters, days, lambda day: progress.update(bar, advance=1, description=f"{day}"))
            traffic = house.traffic
            seconds = time.perf_counter() - started
            return Told(begin, traffic.sent, traffic.decided("posted"), traffic.decided("duplicate"), seconds)


@asynccontextmanager
async def _opened(complete: Settings, begin: datetime, today: date) -> AsyncIterator[House]:
    async with AsyncExitStack() as stack:
        entered = stack.enter_async_context
        clock, url = await entered(walking_clock(complete.required("database_url"), begin))
        of_the_story = {**OF_THE_STORY, "database_url": url, "notify_gather_seconds": _GATHER_S}
        settings = on_free_ports(complete.model_copy(update=of_the_story))
        pool = await entered(database(settings))
        publisher = StreamPublisher(settings.required("kafka_bootstrap"))
        stack.push_async_callback(publisher.close)
        lags = await entered(open_lags(settings.required("kafka_bootstrap")))
        move, terms = PostgresMoves(pool, clock), terms_of(settings)

        async def moved(movement: Movement) -> Moved:
            (one,) = await move.move([movement])
            return one

        moves = approving(pool, clock, moved, alone_of(settings), built_in_sources(settings), terms=terms)
        yield House(settings, pool, clock, publisher, lags, moves, today)
