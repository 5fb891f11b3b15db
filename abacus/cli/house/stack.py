"""Code that `abacus up` and `abacus demo` share: embedded services where no setting names one, and preparing them."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from abacus.bootstrap import Service
from abacus.cli.examples import example_cards
from abacus.cli.house.own_key import own_key
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.terminal.shell import database
from abacus.cli.terminal.shell import sqs as sqs_of
from abacus.core.clock import Clock, SystemClock
from abacus.core.sources import login_source
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.deed import Deed
from abacus.platform.health import Health
from abacus.platform.migrations import migrate, split
from abacus.platform.patience import until_available
from abacus.platform.postgres import nothing_else
from abacus.platform.settings import Settings
from abacus.platform.sqs.definition import ensure_queues
from abacus.pricing.decide.card import RateCard, country_of
from abacus.pricing.store.cards import CardStore
from abacus.process import run_workers
from workers import wires

MANY_PARTITIONS: Final = 64  # the embedded broker keeps 5 MiB of each and then forgets: many keep a burst whole


@asynccontextmanager
async def services(
    settings: Settings, data_dir: Path, starting: StartProgress, *, partitions: int = MANY_PARTITIONS
) -> AsyncIterator[Settings]:
    """The settings with an address for each service. A topic of an embedded broker has `partitions`. Raises `Refused`
    when the embedded services are not installed.
    """
    missing = {service for service in Service if getattr(settings, service) is None}
    starting.others(settings, missing)
    if not missing:
        yield settings
        return
    names = (settings.transactions_topic, settings.points_topic, settings.tiers_topic, settings.events_topic)
    topics = dict.fromkeys(names, partitions)
    from abacus.platform.embedded import EmbeddedStack  # noqa: PLC0415  # an extra that production leaves out

    async with EmbeddedStack(
        data_dir,
        postgres=Service.DATABASE in missing,
        kafka=Service.KAFKA in missing,
        sqs=Service.SQS in missing,
        kafka_topics=topics,
        told=starting.part,
    ) as stack:
        update: dict[str, object] = {str(service): getattr(stack, service) for service in missing}
        if Service.DATABASE in missing and settings.secrets_key is None:
            update["secrets_key"] = own_key(data_dir)
        yield settings.model_copy(update=update)


async def make_ready(settings: Settings, *, is_ours: bool = False, with_cards: bool = True) -> list[str]:
    """Create the schema, the queues, and the example rate cards if no card is published. Return the names of cards
    published now. In a database of our own the logins are split, as they should be in production.

    Services of one's own that do not answer yet are waited for.
    """
    return await until_available(
        lambda: _made_ready(settings, is_ours=is_ours, with_cards=with_cards), Health(["start"]).worker("start")
    )


async def _made_ready(settings: Settings, *, is_ours: bool, with_cards: bool) -> list[str]:
    await migrate(settings.required("database_url"))
    if is_ours:
        await split(settings.required("database_url"))
    async with sqs_of(settings) as client:
        await ensure_queues(client, settings.queue_prefix)
    async with database(settings) as pool:
        store = CardStore(pool)
        if not with_cards or await store.all():
            return []
        return [await _publish_example(store, card) for card in example_cards()]


async def _publish_example(store: CardStore, card: RateCard) -> str:
    by, now = "abacus examples", SystemClock().now()
    country = country_of(card.scope)
    entry = entry_of(login_source(by), Deed.PUBLISH_RATES, f"card:{card.scope}", now, country=country, did="example")
    return (await store.publish(card, by=by, now=now, also=with_entry(nothing_else, entry))).name


@asynccontextmanager
async def running(
    names: Iterable[str],
    settings: Settings,
    starting: StartProgress,
    *,
    health_port: int | None = None,
    clock: Clock | None = None,
) -> AsyncIterator["asyncio.Task[None]"]:
    """Run these workers until the block ends; they are ready when it begins. The task ends early only when a worker
    fails. They tell the database's time, unless a clock is given.
    """
    wired = wires(names)
    stop, health = asyncio.Event(), Health(wired)
    task = asyncio.create_task(run_workers(wired, settings, health, stop, health_port=health_port, clock=clock))
    try:
        await starting.workers(task, health)
        if task.done():
            await task
        yield task
    finally:
        stop.set()
        await task
