"""Backlogs decided for a campaign that asks a counter of the events' own topic, and so waits for it, and for one that
asks a counter of another topic: in turns of one run, by a counter and a campaigner of each, in processes of their own.
"""

import itertools
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from abacus.cli.house.stack import make_ready
from abacus.documents.store import DocumentStore
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import open_pool
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.events.wiring import built_in_sources
from benchmarks.pipeline import worker
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.sliced_database import sliced_database
from benchmarks.workbench import until
from tests.support.births import opened_nursery
from tests.support.cluster import Servers
from tests.support.house import House, completed, unique_settings
from tests.support.running_campaigns import just_now, run_campaign

EVENTS: Final = 4_000
MEMBERS: Final = 500
ROUNDS: Final = 7
LEAST: Final = 0.5
_ON: Final = {"own": "transactions/transaction.completed", "another": "points/abacus.points.earned.v1"}
_CLAIMS: Final = "select count(*) from campaign_claim"
_ANY: Final = {"operator": "gte", "lhs": "counter.rides_of(1h)", "rhs": 0}


async def measure(directory: Path) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory))
        servers = await Servers.of(embedded.database_url or "")
        houses = {name: await _house(stack, embedded, servers, name) for name in _ON}
        numbers = itertools.count(1)
        seconds: dict[str, list[float]] = {name: [] for name in houses}
        for _ in range(ROUNDS + 1):
            for name, house in houses.items():
                seconds[name].append(await _decided(house, numbers))
    return _figures({name: taken[1:] for name, taken in seconds.items()})


def _figures(seconds: Mapping[str, Sequence[float]]) -> list[Figure]:
    own, another = (EVENTS * len(taken) / sum(taken) for taken in (seconds["own"], seconds["another"]))
    return [
        Figure(
            f"a backlog of {EVENTS:,} events decided for a campaign that asks a counter of another topic",
            rate(another, "events"),
        ),
        Figure(
            "… that asks a counter of their own topic, and waits for it",
            rate(own, "events"),
            f"{ratio_of(seconds['another'], seconds['own'])} times the time",
            f">= {LEAST} of the first",
            own >= LEAST * another,
            anywhere=True,
        ),
    ]


async def _house(stack: AsyncExitStack, embedded: EmbeddedStack, servers: Servers, name: str) -> House:
    """With a counter, a campaign that asks it, and their workers."""
    settings = unique_settings(
        database_url=await sliced_database(stack, servers, f"abacus_campaign_counters_{name}", 1),
        sqs_endpoint_url=embedded.sqs_endpoint_url or "",
        kafka_bootstrap=embedded.kafka_bootstrap or "",
    )
    await make_ready(settings)
    pool = await open_pool(settings.required("database_url"), size=2)
    stack.push_async_callback(pool.close)
    sources = built_in_sources(settings)
    document = {"id": 1, "name": "rides_of", "template": "rides_of:{member_id}", "on": [_ON[name]]}
    draft = parse_definition(document, {each.name: each for each in sources})
    await DocumentStore(pool, COUNTERS).publish([draft], held_sources(sources), by="bench", now=datetime.now(UTC))
    house = House(settings, pool, await stack.enter_async_context(opened_nursery()))
    await run_campaign(house, when=_ANY, steps=[{"do": [{"award": {"points": 5}}]}])
    for each in ("counter", "campaigner"):
        await stack.enter_async_context(worker(each, settings))
    return house


async def _decided(house: House, numbers: "itertools.count[int]") -> float:
    """The seconds until a backlog is decided, from the moment at which it is sent."""
    before, began = await house.pool.fetchval(_CLAIMS), time.perf_counter()
    some = itertools.islice(numbers, EVENTS)
    await house.produce(completed(each, member_id=f"m{each % MEMBERS}", occurred_at=just_now()) for each in some)

    async def all_decided() -> bool:
        return bool(await house.pool.fetchval(_CLAIMS) == before + EVENTS)

    await until(all_decided)
    return time.perf_counter() - began
