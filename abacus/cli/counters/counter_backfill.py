"""`abacus counters backfill`: count what topics held before a definition began."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Final

import typer
from rich.progress import Progress as Bars

from abacus.cli.terminal.answer import Answer, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.progress import bars
from abacus.cli.terminal.shell import moment, pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, Unavailable, absent
from abacus.documents.directory import read_moment
from abacus.people.types.deed import Deed
from abacus.platform.kafka.topic_id import NoTopicIds, TopicIds
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.settings import Settings
from abacus.signals.counters.backfill import Backfill, Progress
from abacus.signals.counters.counter import EventCounter
from abacus.signals.counters.decide.batch import EventMemory
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.decide.topics import in_force, topics_of
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.counters.new_keys import NewKeysBook
from abacus.signals.counters.open_rows import OpenRows
from abacus.signals.counters.parts import PartsBook
from abacus.signals.counters.reading.cache_share import CacheShareStore
from abacus.signals.counters.series import SeriesBook
from abacus.signals.counters.store.opened_store import open_store
from abacus.signals.counters.topic import KafkaTopic
from abacus.signals.counters.wiring import cassandra_of
from abacus.signals.events.kind import SOURCES, by_name
from abacus.signals.events.wiring import built_in_sources
from abacus.signals.places.locating import locate_now

_FORGET_EVERY_S: Final = 600.0


async def backfill(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    since: Annotated[
        str, typer.Option("--from", metavar="TIME", help="Count what is as young as this.", show_default=False)
    ],
) -> Answer:
    """Count what the topics still hold of the time before a definition was published, beside the counter worker.

    A run that was broken off goes on where it stopped; doing it again changes nothing. A later run may go further back.
    """
    start, config, done = moment("--from", since), settings(), list[Progress]()
    async with actor(partial(pool, session=LOOKUPS_BY_KEY)) as at:
        catalog = await _alone(at.pool, config, name)
        [definition] = catalog.definitions
        await at.begins(Deed.PUBLISH_COUNTERS, f"counter:{definition.name}", did="backfill", since=start)
        with bars() as shown:
            async with AsyncExitStack() as stack, _forgotten(at.pool, definition, at.actor.source):
                for each in await _backfills(stack, at.pool, config, catalog):
                    done += await _followed(each, start, shown)
    return Answer(
        {"name": definition.label, "from": start, "topics": [each._asdict() for each in done]},
        *(f"{topic}: {counted(events, 'event')} of {counted(of, 'message')} counted" for topic, _, of, events in done),
    )


@asynccontextmanager
async def _forgotten(opened: Pool, definition: Definition, by: str) -> AsyncIterator[None]:
    """What lookups keep is forgotten while the block runs, and after it: they see what is counted at once."""
    settings = CacheShareStore(opened, SystemClock())

    async def again_and_again() -> None:
        while True:
            with suppress(Unavailable):  # the backfill will run into the same
                await settings.replayed(definition, by=by)
            await asyncio.sleep(_FORGET_EVERY_S)

    await settings.replayed(definition, by=by)
    forgetting = asyncio.create_task(again_and_again())
    try:
        yield
    finally:
        forgetting.cancel()
        await settings.replayed(definition, by=by)


async def _alone(opened: Pool, config: Settings, name: str) -> Catalog:
    """A catalogue of this definition and all sources. Raises `Refused`."""
    published = await read_moment(opened, COUNTERS, SOURCES)
    by_names = {each.name: each for each in published.of(COUNTERS)}
    definition: Definition | None = by_names.get(name)
    if definition is None:
        raise absent("counter", name, "`abacus counters list` prints all")
    if definition.retired:
        raise Refused(f"{definition.label} is retired")
    return Catalog([definition], by_name(built_in_sources(config), published.of(SOURCES)))


async def _backfills(stack: AsyncExitStack, opened: Pool, config: Settings, catalog: Catalog) -> Sequence[Backfill]:
    """One for each topic that may have events of the definition."""
    clock, bootstrap = SystemClock(), config.required("kafka_bootstrap")
    store = (await stack.enter_async_context(open_store(cassandra_of(config), opened, clock))).store
    remembering = EventMemory(timedelta(hours=config.counter_repeat_hours))
    rows = OpenRows(config.counter_open_rows)
    new_keys = NewKeysBook(opened, clock)
    counter = EventCounter(store, rows, QuarantineStore(opened, clock), remembering, clock, new_keys=new_keys)
    ids, locate = TopicIds(bootstrap), await locate_now(opened)
    stack.push_async_callback(ids.close)
    return [
        Backfill(
            KafkaTopic(bootstrap, topic, ids),
            in_force(catalog, topic, config.events_topic, locate),
            PartsBook(opened, clock),
            SeriesBook(opened, clock),
            counter,
        )
        for topic in sorted(topics_of(catalog, config.events_topic))
    ]


async def _followed(each: Backfill, start: datetime, shown: Bars) -> list[Progress]:
    """The last progress; none of a topic that is not there."""
    task = shown.add_task("", total=None)
    last: list[Progress] = []
    try:
        async for progress in each.run(start):
            shown.update(task, description=progress.topic, completed=progress.done, total=progress.of)
            last = [progress]
    except NoTopicIds:
        raise Refused("the broker tells no ids of topics, so what was counted could not be told apart") from None
    return last
